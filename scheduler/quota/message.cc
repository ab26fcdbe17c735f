#include "scheduler/quota/message.h"

#include "k8s-client/api/decode/rfc3339.h"
#include "scheduler/base/ordinal.h"

#include <fmt/format.h>

#include <chrono>

namespace sched::quota {
namespace {

using Why = LineAnswer::Why;

std::string place_in_line(std::size_t before) {
  if (before == 0) return "first in line";
  return ordinal(before + 1) + " in line";
}

std::string borrowed(const LineAnswer& line) {
  if (line.borrowed.is_zero()) return {};
  if (!line.parent.empty()) {
    return fmt::format(" ({} borrowed in quota {})", to_text(line.borrowed), line.parent);
  }
  return fmt::format(" ({} borrowed from cohort {})", to_text(line.borrowed), line.cohort);
}

// What holds for a line, whichever pod is in line.
std::string account(const LineAnswer& line) {
  switch (line.why) {
    case Why::kTooLarge:
      return fmt::format("{} needs {}, at most {} a pod", line.gpu_type, to_text(line.needs),
                         to_text(line.limit));
    case Why::kNoLine:
      return fmt::format("{} is not in it",
                         line.gpu_type.empty() ? "a GPU without a type label" : line.gpu_type);
    case Why::kHasRoom:
    case Why::kLimit:
    case Why::kCohort:
    case Why::kBound:
    case Why::kKept:
      break;
  }
  return fmt::format("{} needs {}, {} of {} in use{}", line.gpu_type, to_text(line.needs),
                     to_text(line.used), to_text(line.limit), borrowed(line));
}

std::string needs_in_parent(const LineAnswer& line) {
  return fmt::format("quota {}, which it is in, has no more for it, {} more must be freed in that",
                     line.parent, to_text(line.missing));
}

// What must happen; empty: nothing can help, or nothing is needed.
std::string remedy(const LineAnswer& line) {
  if (line.needs > line.most) return {};
  switch (line.why) {
    case Why::kLimit:
      return fmt::format("{} more must be freed", to_text(line.missing));
    case Why::kCohort:
      if (!line.parent.empty()) return needs_in_parent(line);
      return fmt::format("cohort {} has nothing more to lend, {} more must be freed in it",
                         line.cohort, to_text(line.missing));
    case Why::kBound:
      if (!line.parent.empty()) return needs_in_parent(line);
      return fmt::format(
          "cohort {} uses all that its quotas guarantee, {} more must be freed in it", line.cohort,
          to_text(line.missing));
    case Why::kKept:
      return fmt::format(
          "what is freed is kept for pods that have waited long, {} more must be freed",
          to_text(line.missing));
    case Why::kHasRoom:
    case Why::kTooLarge:
    case Why::kNoLine:
      break;
  }
  return {};
}

}  // namespace

std::string waiting_message(const std::string& quota, const std::vector<LineAnswer>& answers,
                            std::size_t before) {
  if (answers.empty()) {
    return fmt::format("quota {}: no node has GPUs of a type that the pod allows", quota);
  }
  std::vector<std::string> accounts;
  std::vector<std::string> remedies;
  bool can_be_helped = false;
  bool has_none = true;  // of the types that the pod allows
  for (const LineAnswer& line : answers) {
    has_none = has_none && line.why == Why::kNoLine;
    accounts.push_back(account(line));
    can_be_helped = can_be_helped || line.why == Why::kHasRoom;
    std::string what = remedy(line);
    if (what.empty()) continue;
    can_be_helped = true;
    remedies.push_back(answers.size() == 1 ? std::move(what)
                                           : fmt::format("{}: {}", line.gpu_type, what));
  }
  std::string text = fmt::format("quota {}: {}", quota, fmt::join(accounts, ", or "));
  if (!can_be_helped) {
    return text + (has_none ? ", so it gives none" : "; it can never give that much");
  }
  text += ", " + place_in_line(before);
  if (!remedies.empty()) text += fmt::format("; {}", fmt::join(remedies, "; "));
  return text;
}

std::string behind_message(const std::string& quota, const std::string& first, std::size_t before) {
  return fmt::format("quota {} is Strict: {}, behind {}, and none may pass", quota,
                     place_in_line(before), first);
}

std::string without_effect_message(const std::vector<std::string>& others, const std::string& quota,
                                   const std::string& namespace_) {
  const std::string rest =
      others.size() == 1 ? "" : fmt::format(" (and {} more)", others.size() - 1);
  return fmt::format("quota {}{} selects {}, too, and would count it if {} did not", others.front(),
                     rest, namespace_, quota);
}

std::string no_quota_message(const std::string& namespace_) {
  return fmt::format("namespace {} has no GPU quota, and pods without quota get no GPUs",
                     namespace_);
}

std::string undecided_message(const std::string& namespace_) {
  return fmt::format(
      "namespace {} is not known yet, and its labels decide which GPU quota counts its pods",
      namespace_);
}

std::string invalid_quota_message(const std::string& quota, const std::string& error) {
  return fmt::format("quota {} is not valid: {}; until it is repaired it gives no GPUs", quota,
                     error);
}

std::string deleted_quota_message(const std::string& quota, Time until, GpuShare used) {
  const std::string using_some =
      used.is_zero() ? "" : fmt::format(", nor while their pods use any ({} now)", to_text(used));
  return fmt::format(
      "quota {} was deleted: its namespaces get no GPUs until {}{}; a quota for them ends that",
      quota, k8s::json::format_rfc3339(std::chrono::ceil<std::chrono::seconds>(until)), using_some);
}

}  // namespace sched::quota
