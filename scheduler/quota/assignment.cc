#include "scheduler/quota/assignment.h"

#include <algorithm>
#include <tuple>

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
  const auto known = claims_.find(claim.id);
  if (known != claims_.end() && known->second == claim) return false;
  erase(claim.quota);
  const Claim& made = claims_.emplace(claim.id, std::move(claim)).first->second;
  for_each_claimed(made, [&](const std::string& name) { join(made, name); });
  if (made.selector) {
    const auto place = std::upper_bound(selecting_.begin(), selecting_.end(), made.id,
                                        [this](QuotaId a, QuotaId b) { return is_older(a, b); });
    selecting_.insert(place, made.id);
  }
  changed_.insert(made.id);
  return true;
}

bool Assignment::erase(const std::string& quota) {
  const auto known = claims_.find(id_of(quota));
  if (known == claims_.end()) return false;
  const Claim& claim = known->second;
  for_each_claimed(claim, [&](const std::string& name) { leave(claim, name); });
  std::erase(selecting_, claim.id);
  claims_.erase(known);
  return true;
}

bool Assignment::namespace_labels(const std::string& namespace_, const k8s::StringMap& labels) {
  const auto known = labels_.find(namespace_);
  const bool is_new = known == labels_.end();
  if (!is_new && known->second == labels) return false;
  const QuotaId before = quota_of(namespace_);
  for (const auto& [id, claim] : claims_) {
    if (!claim.selector || names(claim, namespace_)) continue;
    const bool asked = !is_new && claim.selector->matches(known->second);
    const bool asks = claim.selector->matches(labels);
    if (asks && !asked) join(claim, namespace_);
    if (asked && !asks) leave(claim, namespace_);
  }
  labels_[namespace_] = labels;
  return quota_of(namespace_) != before;
}

bool Assignment::namespace_gone(const std::string& namespace_) {
  const auto known = labels_.find(namespace_);
  if (known == labels_.end()) return false;
  const QuotaId before = quota_of(namespace_);
  for (const auto& [id, claim] : claims_) {
    if (!claim.selector || names(claim, namespace_)) continue;
    if (claim.selector->matches(known->second)) leave(claim, namespace_);
  }
  labels_.erase(known);
  return quota_of(namespace_) != before;
}

QuotaId Assignment::quota_of(const std::string& namespace_) const {
  if (depends_on_labels(namespace_)) return kUndecidedQuota;
  if (const auto found = claimants_.find(namespace_); found != claimants_.end()) {
    return found->second.front();
  }
  if (options_.without_quota == WithoutQuota::kUnlimited) return kUnlimitedQuota;
  if (options_.without_quota == WithoutQuota::kNone) return kNothingQuota;
  const auto named = ids_.find(options_.default_quota);
  const bool is_there = named != ids_.end() && claims_.contains(named->second);
  return is_there ? named->second : kNothingQuota;
}

bool Assignment::depends_on_labels(const std::string& namespace_) const {
  if (selecting_.empty() || labels_.contains(namespace_)) return false;
  const auto named = claimants_.find(namespace_);
  return named == claimants_.end() || is_older(selecting_.front(), named->second.front());
}

std::vector<Overlap> Assignment::overlaps(QuotaId quota) const {
  std::vector<Overlap> overlaps;
  const auto in_vain = in_vain_.find(quota);
  if (in_vain == in_vain_.end()) return overlaps;
  for (const std::string& name : in_vain->second) {
    const QuotaId keeps = claimants_.find(name)->second.front();
    overlaps.push_back({.namespace_ = name, .kept_by = claims_.find(keeps)->second.quota});
  }
  return overlaps;
}

template <typename Visit>
void Assignment::for_each_claimed(const Claim& claim, Visit&& visit) const {
  const std::set<std::string> named(claim.namespaces.begin(), claim.namespaces.end());
  for (const std::string& name : named) visit(name);
  if (!claim.selector) return;
  for (const auto& [name, labels] : labels_) {
    if (!named.contains(name) && claim.selector->matches(labels)) visit(name);
  }
}

bool Assignment::names(const Claim& claim, const std::string& namespace_) {
  const auto& names = claim.namespaces;
  return std::find(names.begin(), names.end(), namespace_) != names.end();
}

bool Assignment::is_older(QuotaId a, QuotaId b) const {
  const auto age = [this](QuotaId id) {
    const Claim& claim = claims_.find(id)->second;
    return std::tie(claim.created, claim.quota);
  };
  return age(a) < age(b);
}

void Assignment::join(const Claim& claim, const std::string& namespace_) {
  std::vector<QuotaId>& claimants = claimants_[namespace_];
  const auto place = std::upper_bound(claimants.begin(), claimants.end(), claim.id,
                                      [this](QuotaId a, QuotaId b) { return is_older(a, b); });
  const bool keeps = place == claimants.begin();
  claimants.insert(place, claim.id);
  if (keeps) return kept_by_another(claimants, namespace_);
  in_vain_[claim.id].insert(namespace_);
  changed_.insert(claim.id);
}

void Assignment::leave(const Claim& claim, const std::string& namespace_) {
  const auto found = claimants_.find(namespace_);
  std::vector<QuotaId>& claimants = found->second;
  const bool kept = claimants.front() == claim.id;
  claimants.erase(std::find(claimants.begin(), claimants.end(), claim.id));
  if (const auto in_vain = in_vain_.find(claim.id); in_vain != in_vain_.end()) {
    in_vain->second.erase(namespace_);
    if (in_vain->second.empty()) in_vain_.erase(in_vain);
  }
  changed_.insert(claim.id);
  if (kept) kept_by_another(claimants, namespace_);
  if (claimants.empty()) claimants_.erase(found);
}

void Assignment::kept_by_another(const std::vector<QuotaId>& claimants,
                                 const std::string& namespace_) {
  for (const QuotaId id : claimants) {
    changed_.insert(id);
    if (id == claimants.front()) {
      in_vain_[id].erase(namespace_);
    } else {
      in_vain_[id].insert(namespace_);
    }
  }
}

}  // namespace sched::quota
