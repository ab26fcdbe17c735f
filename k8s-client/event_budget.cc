#include "k8s-client/event_budget.h"

#include <algorithm>

namespace k8s {

bool EventBudget::take(const std::string& object, TimePoint now) {
  auto found = by_object_.find(object);
  if (found == by_object_.end()) {
    if (accounts_.size() >= options_.most_objects) {
      by_object_.erase(accounts_.back().object);
      accounts_.pop_back();
    }
    accounts_.push_front({.object = object, .full_at = now});
    found = by_object_.emplace(object, accounts_.begin()).first;
  }
  const auto account = found->second;
  accounts_.splice(accounts_.begin(), accounts_, account);
  const TimePoint full_at = std::max(account->full_at, now) + options_.refill;
  if (full_at - now > options_.burst * options_.refill) return false;
  account->full_at = full_at;
  return true;
}

}  // namespace k8s
