#include "scheduler/quota/assignment.h"

#include <algorithm>
#include <tuple>

namespace sched::quota {

QuotaId Assignment::id_of(const std::string& quota) {
  const auto next = static_cast<QuotaId>(static_cast<std::uint32_t>(kFirstQuota) + ids_.size());
  return ids_.try_emplace(quota, next).first->second;
}

bool Assignment::upsert(const k8s::GpuQuota& quota) {
  return put({.quota = quota.metadata.name,
              .id = id_of(quota.metadata.name),
              .created = quota.metadata.creation_timestamp.value_or(k8s::Timestamp{}),
              .namespaces = {quota.spec.namespaces.begin(), quota.spec.namespaces.end()},
              .selector = quota.spec.namespace_selector});
}

void Assignment::keep_deleted(const std::string& quota) {
  const auto known = selections_.find(id_of(quota));
  if (known == selections_.end()) return;
  Selection selection = known->second;
  selection.deleted = true;
  put(std::move(selection));
}

bool Assignment::put(Selection selection) {
  const auto known = selections_.find(selection.id);
  if (known != selections_.end() && known->second == selection) return false;
  erase(selection.quota);
  const Selection& made = selections_.emplace(selection.id, std::move(selection)).first->second;
  for_each_selected(made, [&](const std::string& name) { join(made, name); });
  if (made.selector) by_label_.insert(made.id);
  changed_.insert(made.id);
  return true;
}

bool Assignment::erase(const std::string& quota) {
  const auto known = selections_.find(id_of(quota));
  if (known == selections_.end()) return false;
  const Selection& selection = known->second;
  for_each_selected(selection, [&](const std::string& name) { leave(selection, name); });
  by_label_.erase(selection.id);
  selections_.erase(known);
  return true;
}

bool Assignment::namespace_labels(const std::string& namespace_, const k8s::StringMap& labels) {
  const auto known = labels_.find(namespace_);
  const bool is_new = known == labels_.end();
  if (!is_new && known->second == labels) return false;
  const QuotaId before = quota_of(namespace_);
  for (const auto& [id, selection] : selections_) {
    if (!selection.selector || selection.namespaces.contains(namespace_)) continue;
    const bool was_selected = !is_new && selection.selector->matches(known->second);
    const bool is_selected = selection.selector->matches(labels);
    if (is_selected && !was_selected) join(selection, namespace_);
    if (was_selected && !is_selected) leave(selection, namespace_);
  }
  labels_[namespace_] = labels;
  return quota_of(namespace_) != before;
}

bool Assignment::namespace_gone(const std::string& namespace_) {
  const auto known = labels_.find(namespace_);
  if (known == labels_.end()) return false;
  const QuotaId before = quota_of(namespace_);
  for (const auto& [id, selection] : selections_) {
    if (!selection.selector || selection.namespaces.contains(namespace_)) continue;
    if (selection.selector->matches(known->second)) leave(selection, namespace_);
  }
  labels_.erase(known);
  return quota_of(namespace_) != before;
}

QuotaId Assignment::quota_of(const std::string& namespace_) const {
  if (depends_on_labels(namespace_)) return kUndecidedQuota;
  if (const auto found = selected_by_.find(namespace_); found != selected_by_.end()) {
    return found->second.front();
  }
  if (options_.without_quota == WithoutQuota::kUnlimited) return kUnlimitedQuota;
  if (options_.without_quota == WithoutQuota::kNone) return kNothingQuota;
  const auto named = ids_.find(options_.default_quota);
  if (named == ids_.end()) return kNothingQuota;
  const auto found = selections_.find(named->second);
  return found == selections_.end() || found->second.deleted ? kNothingQuota : named->second;
}

std::vector<QuotaId> Assignment::selecting_without_effect(const std::string& namespace_) const {
  const auto found = selected_by_.find(namespace_);
  if (found == selected_by_.end()) return {};
  std::vector<QuotaId> others(found->second.begin() + 1, found->second.end());
  std::erase_if(others, [&](QuotaId id) { return selections_.find(id)->second.deleted; });
  return others;
}

bool Assignment::depends_on_labels(const std::string& namespace_) const {
  if (by_label_.empty() || labels_.contains(namespace_)) return false;
  const auto named = selected_by_.find(namespace_);
  if (named == selected_by_.end()) return true;
  const auto is_deleted = [&](QuotaId id) { return selections_.find(id)->second.deleted; };
  return is_deleted(named->second.front()) &&
         !std::all_of(by_label_.begin(), by_label_.end(), is_deleted);
}

bool Assignment::has_some(QuotaId quota) const {
  const auto selection = selections_.find(quota);
  if (selection == selections_.end()) return false;
  const bool is_default = options_.without_quota == WithoutQuota::kNamed &&
                          options_.default_quota == selection->second.quota;
  const auto all = selected_.find(quota);
  const auto without_effect = without_effect_.find(quota);
  return is_default ||
         (all != selected_.end() &&
          all->second >
              (without_effect == without_effect_.end() ? 0 : without_effect->second.size()));
}

k8s::GpuQuota Assignment::selection_of(QuotaId quota) const {
  const Selection& selection = selections_.find(quota)->second;
  k8s::GpuQuota object;
  object.metadata.name = selection.quota;
  object.metadata.creation_timestamp = selection.created;
  object.spec.namespaces = {selection.namespaces.begin(), selection.namespaces.end()};
  object.spec.namespace_selector = selection.selector;
  return object;
}

std::vector<Overlap> Assignment::overlaps(QuotaId quota) const {
  std::vector<Overlap> overlaps;
  const auto without_effect = without_effect_.find(quota);
  if (without_effect == without_effect_.end()) return overlaps;
  for (const std::string& name : without_effect->second) {
    const Selection& keeper = selections_.find(selected_by_.find(name)->second.front())->second;
    const bool named = selections_.find(quota)->second.namespaces.contains(name);
    overlaps.push_back({.namespace_ = name,
                        .kept_by = keeper.quota,
                        .by_name = !named && keeper.namespaces.contains(name)});
  }
  return overlaps;
}

template <typename Visit>
void Assignment::for_each_selected(const Selection& selection, Visit&& visit) const {
  for (const std::string& name : selection.namespaces) visit(name);
  if (!selection.selector) return;
  for (const auto& [name, labels] : labels_) {
    if (!selection.namespaces.contains(name) && selection.selector->matches(labels)) visit(name);
  }
}

bool Assignment::comes_before(QuotaId a, QuotaId b, const std::string& namespace_) const {
  const auto rank = [&](QuotaId id) {
    const Selection& selection = selections_.find(id)->second;
    const bool names = selection.namespaces.contains(namespace_);
    return std::tuple<bool, bool, k8s::Timestamp, const std::string&>(
        selection.deleted, !names, selection.created, selection.quota);
  };
  return rank(a) < rank(b);
}

void Assignment::join(const Selection& selection, const std::string& namespace_) {
  ++selected_[selection.id];
  std::vector<QuotaId>& quotas = selected_by_[namespace_];
  const auto place =
      std::upper_bound(quotas.begin(), quotas.end(), selection.id,
                       [&](QuotaId a, QuotaId b) { return comes_before(a, b, namespace_); });
  const bool keeps = place == quotas.begin();
  quotas.insert(place, selection.id);
  if (keeps) return kept_by_another(quotas, namespace_);
  without_effect_[selection.id].insert(namespace_);
  changed_.insert(selection.id);
}

void Assignment::leave(const Selection& selection, const std::string& namespace_) {
  const auto found = selected_by_.find(namespace_);
  std::vector<QuotaId>& quotas = found->second;
  const bool kept = quotas.front() == selection.id;
  --selected_[selection.id];
  quotas.erase(std::find(quotas.begin(), quotas.end(), selection.id));
  if (const auto without_effect = without_effect_.find(selection.id);
      without_effect != without_effect_.end()) {
    without_effect->second.erase(namespace_);
    if (without_effect->second.empty()) without_effect_.erase(without_effect);
  }
  changed_.insert(selection.id);
  if (kept) kept_by_another(quotas, namespace_);
  if (quotas.empty()) selected_by_.erase(found);
}

void Assignment::kept_by_another(const std::vector<QuotaId>& quotas,
                                 const std::string& namespace_) {
  for (const QuotaId id : quotas) {
    changed_.insert(id);
    if (id == quotas.front()) {
      without_effect_[id].erase(namespace_);
    } else {
      without_effect_[id].insert(namespace_);
    }
  }
}

}  // namespace sched::quota
