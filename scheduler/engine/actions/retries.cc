#include "scheduler/engine/actions/retries.h"

namespace sched {

bool Retries::has_turn(const WaitingGroup& group) {
  if (turn_of_ != group.kind) return false;
  turn_of_.reset();
  return true;
}

bool Retries::may_try(WaitingGroup& group, Time now) {
  if (put_off_.empty() && allowance_.any_left(now)) return true;
  if (!group.put_off) put_off_[group.tenant].push_back(group.kind);
  group.put_off = true;
  return false;
}

WaitingGroup* Retries::take_first() {
  while (!put_off_.empty()) {
    auto tenant = put_off_.upper_bound(last_tenant_);
    if (tenant == put_off_.end()) tenant = put_off_.begin();
    auto& [id, kinds] = *tenant;
    last_tenant_ = id;
    WaitingGroup* group = nullptr;
    while (group == nullptr && !kinds.empty()) {
      group = groups_.find(kinds.front());  // null: it has started, or is gone
      kinds.pop_front();
    }
    if (kinds.empty()) put_off_.erase(tenant);
    if (group != nullptr) return group;
  }
  return nullptr;
}

WaitingGroup* Retries::next(Time now) {
  if (put_off_.empty()) return nullptr;
  if (turn_of_ && groups_.find(*turn_of_) != nullptr) return nullptr;
  if (!allowance_.any_left(now)) return nullptr;
  WaitingGroup* const group = take_first();
  if (group == nullptr) return nullptr;
  group->put_off = false;
  turn_of_ = group->kind;
  return group;
}

std::optional<Time> Retries::due() const {
  return put_off_.empty() ? std::nullopt : std::optional(allowance_.next());
}

}  // namespace sched
