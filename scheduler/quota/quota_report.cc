#include "scheduler/quota/quota_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace sched::quota {
namespace {

// In GPUs.
struct Amounts {
  GpuShare guaranteed, used, borrowed, lent, pending;
  Amounts& operator+=(const Amounts& other) {
    guaranteed += other.guaranteed;
    used += other.used;
    borrowed += other.borrowed;
    lent += other.lent;
    pending += other.pending;
    return *this;
  }
};

k8s::GpuQuota::Use in_quantities(const Amounts& amounts) {
  return {.guaranteed = to_quantity(amounts.guaranteed),
          .used = to_quantity(amounts.used),
          .borrowed = to_quantity(amounts.borrowed),
          .lent = to_quantity(amounts.lent),
          .pending = to_quantity(amounts.pending)};
}

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

// `owners_may`: the quotas in it may have their guarantees all the same.
std::string over_limit(const std::string& what, GpuShare used, GpuShare limit, bool owners_may) {
  return fmt::format(
      "{}: {} in use (pods that are being deleted included), {} allowed; {}", what, to_text(used),
      to_text(limit),
      owners_may ? "the quotas in it get no more than their guarantees" : "nothing new starts");
}

}  // namespace

void QuotaReport::rebuild() {
  all_changed();
  lent_.rebuild();
  guarantees_.rebuild();
}

void QuotaReport::all_changed() {
  for (const auto& each : quotas_.all()) changed_.insert(each.first);
}

std::set<QuotaId> QuotaReport::take_changes() {
  changed_.merge(lent_.take_changes());
  changed_.merge(guarantees_.take_changes());
  changed_.merge(assignment_.take_changed());
  changed_.erase(kNothingQuota);
  return std::exchange(changed_, {});
}

bool QuotaReport::is_known(const LineSpec& line) const {
  for (ChargeClassId on = kNoGpuClass + 1; on < classes_.size(); ++on) {
    if (classes_.present(on) && names(line, classes_[on].product)) return true;
  }
  return false;
}

k8s::Condition QuotaReport::ready(QuotaId id, bool has_gpus) const {
  const Quota& quota = quotas_.at(id);
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

std::vector<k8s::Condition> QuotaReport::conditions(QuotaId id) const {
  const Quota& quota = quotas_.at(id);
  std::vector<std::string> unknown;
  std::vector<std::string> over;
  std::vector<std::string> uncovered;
  std::vector<std::string> overlent;
  std::vector<std::string> overpromised;
  const bool is_parent = !quota.children.empty();
  bool some_known = quota.spec.lines.empty();
  for (std::size_t i = 0; i < quota.spec.lines.size(); ++i) {
    const Line& line = quota.lines[i];
    const std::string& type = line.spec().gpu_type;
    const GpuShare used = line.in_use();
    if (used > line.limit()) {
      over.push_back(
          over_limit(type, used, line.limit(), is_parent && !line.spec().limit.has_value()));
    }
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
    if (const auto* cover = guarantees_.uncovered(line.spec())) {
      uncovered.push_back(fmt::format("{}: all quotas guarantee {}, nodes have {}", type,
                                      to_text(cover->guaranteed), to_text(cover->offered)));
    }
    if (!quota.spec.cohort.empty() && lent_.is_overlent(line.pool()->id)) {
      overlent.push_back(fmt::format(
          "{}: more is borrowed in cohort {} than it has to lend; nothing more is lent until some "
          "of it is freed",
          type, quota.spec.cohort));
    }
  }
  if (const GpuShare unnamed = quota.lines.back().used(); !unnamed.is_zero()) {
    over.push_back(over_limit("GPUs of types that no line names", unnamed, {}, false));
  }
  const std::int64_t generation = quota.generation;
  return {ready(id, some_known),
          problem("NamespaceOverlap", "NoOverlap", in_words(assignment_.overlaps(id)), generation),
          problem("UnknownGpuType", "KnownGpuTypes", std::move(unknown), generation),
          problem("OverLimit", "WithinLimit", std::move(over), generation),
          problem("GuaranteesExceedGpus", "GuaranteesCovered", std::move(uncovered), generation),
          problem("GuaranteesExceedParent", "GuaranteesWithinParent", std::move(overpromised),
                  generation),
          problem("CohortOverlent", "CohortNotOverlent", std::move(overlent), generation),
          problem("LentApart", "LentTogether", guarantees_.lent_apart(id), generation)};
}

k8s::GpuQuota::Status QuotaReport::status(QuotaId id, const std::vector<GpuShare>& pending) const {
  const Quota& quota = quotas_.at(id);
  k8s::GpuQuota::Status status;
  status.observed_generation = quota.generation;
  Amounts total;
  for (std::size_t i = 0; i < quota.spec.lines.size(); ++i) {
    const Line& line = quota.lines[i];
    // What a quota that cannot borrow has beyond its guarantee was not lent.
    const bool may_borrow = line.pool() != nullptr;
    const Amounts amounts{.guaranteed = line.spec().guaranteed,
                          .used = line.in_use(),
                          .borrowed = may_borrow ? line.borrowed_in_use() : GpuShare(),
                          .lent = lent_.of(id, i),
                          .pending = i < pending.size() ? pending[i] : GpuShare()};
    total += amounts;
    status.quotas.push_back({.gpu_type = line.spec().gpu_type, .use = in_quantities(amounts)});
  }
  total.used += quota.lines.back().used();
  status.total = in_quantities(total);
  status.conditions = conditions(id);
  return status;
}

std::optional<std::string> QuotaReport::error_of(QuotaId id) const {
  const Quota& quota = quotas_.at(id);
  if (quota.error) return quota.error;
  if (quota.misplaced) return quota.misplaced;
  if (quota.children.empty() || !assignment_.has_some(id)) return std::nullopt;
  return fmt::format("spec.namespaces: quota {} has it as its parent, so it gives none itself",
                     quotas_.at(quota.children.front()).name);
}

std::vector<NamespaceUse> QuotaReport::uses() const {
  std::map<std::tuple<QuotaId, std::size_t, std::string>, NamespaceUse> uses;
  for (const auto& [name, charges] : charges_.by_namespace()) {
    for (const Charge* charge : charges) {
      if (!charge->quota() || charge->amount().is_zero()) continue;
      NamespaceUse& use = uses[{*charge->quota(), charge->line(), name}];
      ++use.pods;
      use.amount += charge->amount();
    }
  }
  std::vector<NamespaceUse> all;
  for (auto& [key, use] : uses) {
    std::tie(use.quota, use.line, use.namespace_) = key;
    all.push_back(std::move(use));
  }
  return all;
}

std::vector<Loan> QuotaReport::loans() const {
  std::map<std::pair<QuotaId, std::size_t>, std::vector<const Charge*>> borrow;
  for (const auto& [name, charges] : charges_.by_namespace()) {
    for (const Charge* charge : charges) {
      if (!charge->quota() || charge->amount().is_zero()) continue;
      const Line& line = quotas_.at(*charge->quota()).lines[charge->line()];
      if (line.pool() == nullptr || line.borrowed_in_use().is_zero()) continue;
      borrow[{*charge->quota(), charge->line()}].push_back(charge);
    }
  }
  std::vector<Loan> all;
  for (auto& [line, charges] : borrow) {
    std::sort(charges.begin(), charges.end(), [](const Charge* a, const Charge* b) {
      return std::tie(b->pod().at, b->pod().uid) < std::tie(a->pod().at, a->pod().uid);
    });
    GpuShare left = quotas_.at(line.first).lines[line.second].borrowed_in_use();
    for (const Charge* charge : charges) {
      if (left.is_zero()) break;
      const GpuShare part = std::min(left, charge->amount());
      left -= part;
      all.push_back({.uid = charge->pod().uid,
                     .namespace_ = charge->pod().namespace_,
                     .at = charge->pod().at,
                     .quota = line.first,
                     .line = line.second,
                     .amount = part});
    }
  }
  std::sort(all.begin(), all.end(), [](const Loan& a, const Loan& b) {
    return std::tie(b.at, b.uid) < std::tie(a.at, a.uid);
  });
  return all;
}

}  // namespace sched::quota
