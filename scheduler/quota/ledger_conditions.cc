// What is wrong with a quota, as conditions of its status.
#include "scheduler/quota/ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sched::quota {
namespace {

// A condition that is true while `details` are there.
k8s::Condition problem(std::string type, std::string none, std::vector<std::string> details,
                       std::int64_t generation) {
  const bool holds = !details.empty();
  return {.type = type,
          .status = holds ? "True" : "False",
          .observed_generation = generation,
          .last_transition_time = std::nullopt,
          .reason = holds ? std::move(type) : std::move(none),
          .message = fmt::format("{}", fmt::join(details, "; "))};
}

// A selector may ask for thousands of namespaces, and the API server refuses messages beyond 32
// KiB.
std::vector<std::string> in_words(const std::vector<Overlap>& overlaps) {
  constexpr std::size_t kMostNamed = 20;
  std::vector<std::string> words;
  for (const Overlap& overlap : overlaps) {
    if (words.size() == kMostNamed) {
      words.push_back(fmt::format("and {} more", overlaps.size() - kMostNamed));
      break;
    }
    words.push_back(overlap.by_name
                        ? fmt::format("namespace {} belongs to quota {}, which names it",
                                      overlap.namespace_, overlap.kept_by)
                        : fmt::format("namespace {} belongs to the older quota {}",
                                      overlap.namespace_, overlap.kept_by));
  }
  return words;
}

std::string over_limit(const std::string& what, GpuShare used, GpuShare limit) {
  return fmt::format("{}: {} in use, {} allowed; nothing is evicted, and nothing new starts", what,
                     to_text(used), to_text(limit));
}

}  // namespace

bool Ledger::is_known(const LineSpec& line) const {
  for (ChargeClassId on = kNoGpuClass + 1; on < classes_.size(); ++on) {
    if (classes_.present(on) && names(line, classes_[on].product)) return true;
  }
  return false;
}

k8s::Condition Ledger::ready(QuotaId id, bool has_gpus) const {
  const Quota& quota = at(id);
  k8s::Condition ready{.type = "Ready",
                       .status = "False",
                       .observed_generation = quota.generation,
                       .last_transition_time = std::nullopt,
                       .reason = {},
                       .message = {}};
  const bool is_parent = !quota.children.empty();
  if (const auto error = error_of(id)) {
    ready.reason = "InvalidSpec";
    ready.message = *error + "; until it is repaired its namespaces get no more GPUs";
  } else if (!is_parent && !assignment_.has_some(id)) {
    ready.reason = "NoNamespace";
    ready.message = "no namespace belongs to it, and no quota has it as its parent";
  } else if (!has_gpus) {
    ready.reason = "NoGpus";
    ready.message = "no node has GPUs of its types";
  } else {
    ready.status = "True";
    ready.reason = "Enforced";
  }
  return ready;
}

std::vector<k8s::Condition> Ledger::conditions(QuotaId id) const {
  if (covers_stale_) sum_up_guarantees();
  const Quota& quota = at(id);
  std::vector<std::string> unknown;
  std::vector<std::string> over;
  std::vector<std::string> uncovered;
  std::vector<std::string> overlent;
  std::vector<std::string> overpromised;
  bool some_known = quota.spec.lines.empty();
  for (std::size_t i = 0; i < quota.spec.lines.size(); ++i) {
    const Line& line = quota.lines[i];
    const std::string& type = line.spec().gpu_type;
    const GpuShare used = in_use(quota, i);
    if (used > line.limit()) over.push_back(over_limit(type, used, line.limit()));
    if (const Pool* inner = quota.inner[i]; inner != nullptr && inner->overpromised) {
      overpromised.push_back(
          fmt::format("{}: the quotas in it guarantee {}, it guarantees {}; what is beyond they "
                      "borrow, and they keep nothing for themselves",
                      type, to_text(inner->guaranteed), to_text(line.spec().guaranteed)));
    }
    if (is_known(line.spec())) {
      some_known = true;
    } else if (type != kAnyType) {
      unknown.push_back(fmt::format("no node has GPUs of type {}", type));
    }
    if (const auto cover = covers_.find(line.spec().type_key); cover != covers_.end()) {
      uncovered.push_back(fmt::format("{}: all quotas guarantee {}, nodes have {}", type,
                                      to_text(cover->second.guaranteed),
                                      to_text(cover->second.offered)));
    }
    if (!quota.spec.cohort.empty() && lending_[line.pool()->id].overlent) {
      overlent.push_back(fmt::format(
          "{}: more is borrowed in cohort {} than it has to lend; nothing more is lent until some "
          "of it is freed",
          type, quota.spec.cohort));
    }
  }
  if (const GpuShare unnamed = quota.lines.back().used(); !unnamed.is_zero()) {
    over.push_back(over_limit("GPUs of types that no line names", unnamed, {}));
  }
  const auto apart = lent_apart_.find(id);
  const std::int64_t generation = quota.generation;
  return {
      ready(id, some_known),
      problem("NamespaceOverlap", "NoOverlap", in_words(assignment_.overlaps(id)), generation),
      problem("UnknownGpuType", "KnownGpuTypes", std::move(unknown), generation),
      problem("OverLimit", "WithinLimit", std::move(over), generation),
      problem("GuaranteesExceedGpus", "GuaranteesCovered", std::move(uncovered), generation),
      problem("GuaranteesExceedParent", "GuaranteesWithinParent", std::move(overpromised),
              generation),
      problem("CohortOverlent", "CohortNotOverlent", std::move(overlent), generation),
      problem("LentApart", "LentTogether",
              apart == lent_apart_.end() ? std::vector<std::string>() : apart->second, generation)};
}

void Ledger::sum_up_guarantees() const {
  covers_stale_ = false;
  struct Type {
    const LineSpec* line = nullptr;
    GpuShare guaranteed;  // by the lines of just this type
  };
  std::map<std::string, Type> types;
  for (const QuotaId id : quotas()) {
    if (at(id).parent) continue;  // a part of its parent's guarantee
    for (const LineSpec& line : at(id).spec.lines) {
      Type& type = types[line.type_key];
      type.line = &line;
      type.guaranteed += line.guaranteed;
    }
  }
  std::map<std::string, Cover> covers;
  for (const auto& [key, type] : types) {
    Cover cover;
    for (const auto& [other_key, other] : types) {
      if (includes(*type.line, *other.line)) cover.guaranteed += other.guaranteed;
    }
    for (ChargeClassId on = kNoGpuClass + 1; on < offered_.size(); ++on) {
      if (names(*type.line, classes_[on].product)) cover.offered += offered_[on];
    }
    if (cover.guaranteed > cover.offered) covers.emplace(key, cover);
  }
  for (const QuotaId id : quotas()) {
    const auto is_news = [&](const LineSpec& line) {
      const auto was = covers_.find(line.type_key);
      const auto is = covers.find(line.type_key);
      if (was == covers_.end() || is == covers.end()) {
        return (was == covers_.end()) != (is == covers.end());
      }
      return was->second != is->second;
    };
    const std::vector<LineSpec>& its = at(id).spec.lines;
    if (std::any_of(its.begin(), its.end(), is_news)) status_changed_.insert(id);
  }
  covers_ = std::move(covers);
}

void Ledger::list_lent_apart() {
  lent_apart_.clear();
  std::map<std::string, std::vector<QuotaId>> cohorts;
  for (const QuotaId id : quotas()) {
    if (!at(id).spec.cohort.empty()) cohorts[at(id).spec.cohort].push_back(id);
  }
  for (const auto& [cohort, members] : cohorts) {
    std::map<std::string, const LineSpec*> types;
    for (const QuotaId id : members) {
      for (const LineSpec& line : at(id).spec.lines) types.emplace(line.type_key, &line);
    }
    for (const auto& [key, type] : types) {
      for (const auto& [other_key, other] : types) {
        if (key == other_key || (!includes(*type, *other) && !includes(*other, *type))) continue;
        list_lent_apart(members, *type, *other);
      }
    }
  }
}

// Reports types of which some quotas charge GPUs to the one and other quotas, which have no line of
// the first type, to the other.
void Ledger::list_lent_apart(const std::vector<QuotaId>& cohort, const LineSpec& type,
                             const LineSpec& other) {
  const auto has = [&](QuotaId id, const LineSpec& what) {
    const std::vector<LineSpec>& lines = at(id).spec.lines;
    return std::any_of(lines.begin(), lines.end(),
                       [&](const LineSpec& line) { return line.type_key == what.type_key; });
  };
  const auto find = [&](auto&& which) {
    const auto found = std::find_if(cohort.begin(), cohort.end(), which);
    return found == cohort.end() ? std::nullopt : std::optional(*found);
  };
  const auto some = find([&](QuotaId id) { return has(id, other); });
  const auto without = find([&](QuotaId id) { return has(id, other) && !has(id, type); });
  for (const QuotaId id : cohort) {
    if (!has(id, type)) continue;
    const auto apart = has(id, other) ? without : some;
    if (!apart) continue;
    lent_apart_[id].push_back(
        fmt::format("{} here and {} of quota {} are of the same GPUs, and lend each other nothing: "
                    "only lines of one gpuType do",
                    type.gpu_type, other.gpu_type, at(*apart).name));
  }
}

}  // namespace sched::quota
