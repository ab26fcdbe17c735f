#include "scheduler/quota/assignment.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace sched::quota {

QuotaId Assignment::id_of(const std::string& quota) {
  const auto next = static_cast<QuotaId>(static_cast<std::uint32_t>(kFirstQuota) + ids_.size());
  return ids_.try_emplace(quota, next).first->second;
}

bool Assignment::upsert(const k8s::GpuQuota& quota) {
  Claim claim{.quota = quota.metadata.name,
              .id = id_of(quota.metadata.name),
              .created = quota.metadata.creation_timestamp.value_or(k8s::Timestamp{}),
              .namespaces = quota.spec.namespaces,
              .selector = quota.spec.namespace_selector};
  const auto known = std::find_if(claims_.begin(), claims_.end(),
                                  [&](const Claim& other) { return other.id == claim.id; });
  if (known != claims_.end()) {
    if (*known == claim) return false;
    claims_.erase(known);
  }
  const auto older = [](const Claim& a, const Claim& b) {
    return std::tie(a.created, a.quota) < std::tie(b.created, b.quota);
  };
  claims_.insert(std::upper_bound(claims_.begin(), claims_.end(), claim, older), claim);
  answers_.clear();
  return true;
}

bool Assignment::erase(const std::string& quota) {
  const auto gone =
      std::erase_if(claims_, [&](const Claim& claim) { return claim.quota == quota; });
  if (gone > 0) answers_.clear();
  return gone > 0;
}

bool Assignment::namespace_labels(const std::string& namespace_, const k8s::StringMap& labels) {
  const auto known = labels_.find(namespace_);
  if (known != labels_.end() && known->second == labels) return false;
  const QuotaId before = quota_of(namespace_);
  labels_[namespace_] = labels;
  answers_.erase(namespace_);
  return quota_of(namespace_) != before;
}

bool Assignment::namespace_gone(const std::string& namespace_) {
  const QuotaId before = quota_of(namespace_);
  if (labels_.erase(namespace_) == 0) return false;
  answers_.erase(namespace_);
  const bool moved = quota_of(namespace_) != before;
  answers_.erase(namespace_);  // it need not be kept
  return moved;
}

QuotaId Assignment::quota_of(const std::string& namespace_) const {
  const auto known = answers_.find(namespace_);
  if (known != answers_.end()) return known->second;
  QuotaId answer = kUnlimitedQuota;
  if (const Claim* keeps = keeper(namespace_)) {
    answer = keeps->id;
  } else if (options_.without_quota != WithoutQuota::kUnlimited) {
    answer = kNothingQuota;
    for (const Claim& claim : claims_) {
      const bool is_default = claim.quota == options_.default_quota;
      if (options_.without_quota == WithoutQuota::kNamed && is_default) answer = claim.id;
    }
  }
  answers_.emplace(namespace_, answer);
  return answer;
}

std::vector<Overlap> Assignment::overlaps(const std::string& quota) const {
  const auto claim = std::find_if(claims_.begin(), claims_.end(),
                                  [&](const Claim& each) { return each.quota == quota; });
  std::vector<Overlap> overlaps;
  if (claim == claims_.end()) return overlaps;
  std::set<std::string> asked(claim->namespaces.begin(), claim->namespaces.end());
  for (const auto& [name, labels] : labels_) asked.insert(name);
  for (const std::string& name : asked) {
    if (!claims(*claim, name)) continue;
    const Claim* keeps = keeper(name);
    if (keeps->id != claim->id) overlaps.push_back({.namespace_ = name, .kept_by = keeps->quota});
  }
  return overlaps;
}

bool Assignment::claims(const Claim& claim, const std::string& namespace_) const {
  const auto& names = claim.namespaces;
  if (std::find(names.begin(), names.end(), namespace_) != names.end()) return true;
  if (!claim.selector) return false;
  const auto labels = labels_.find(namespace_);
  return labels != labels_.end() && claim.selector->matches(labels->second);
}

const Assignment::Claim* Assignment::keeper(const std::string& namespace_) const {
  for (const Claim& claim : claims_) {
    if (claims(claim, namespace_)) return &claim;
  }
  return nullptr;
}

}  // namespace sched::quota
