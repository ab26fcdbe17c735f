#include "scheduler/engine/actions/retries.h"

namespace sched {

bool Retries::has_turn(const WaitingGroup& group) {
  if (turn_of_ != group.kind) return false;
  turn_of_.reset();
  return true;
}

bool Retries::may_try(WaitingGroup& group, Time now) {
  if (postponed_.empty() && allowance_.any_left(now)) return true;
  if (!group.postponed) postponed_[group.tenant].push_back(group.kind);
  group.postponed = true;
  return false;
}

WaitingGroup* Retries::take_first() {
  while (!postponed_.empty()) {
    auto tenant = postponed_.upper_bound(last_tenant_);
    if (tenant == postponed_.end()) tenant = postponed_.begin();
    auto& [id, kinds] = *tenant;
    last_tenant_ = id;
    WaitingGroup* group = nullptr;
    while (group == nullptr && !kinds.empty()) {
      group = groups_.find(kinds.front());  // null: it has started, or is gone
      kinds.pop_front();
    }
    if (kinds.empty()) postponed_.erase(tenant);
    if (group != nullptr) return group;
  }
  return nullptr;
}

WaitingGroup* Retries::next(Time now) {
  if (postponed_.empty()) return nullptr;
  if (turn_of_ && groups_.find(*turn_of_) != nullptr) return nullptr;
  if (!allowance_.any_left(now)) return nullptr;
  WaitingGroup* const group = take_first();
  if (group == nullptr) return nullptr;
  group->postponed = false;
  turn_of_ = group->kind;
  return group;
}

std::optional<Time> Retries::due() const {
  return postponed_.empty() ? std::nullopt : std::optional(allowance_.next());
}

}  // namespace sched
