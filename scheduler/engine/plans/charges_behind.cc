#include "scheduler/engine/plans/charges_behind.h"

#include <utility>

namespace sched {

void ChargesBehind::add(PlanId plan, std::string uid) {
  plans_.emplace(plan, std::move(uid));
  trial_.reset();
}

void ChargesBehind::remove(PlanId plan) {
  if (plans_.erase(plan) > 0) trial_.reset();
}

quota::LedgerTrial& ChargesBehind::without(PlanId plan) {
  const bool goes_on = trial_ && version_ == world_.ledger.version() && last_ <= plan;
  if (goes_on) {
    const auto end = plans_.upper_bound(plan);
    for (auto each = plans_.upper_bound(last_); each != end; ++each) {
      if (const quota::Charge* charge = charge_of(each->second)) trial_->put_back(*charge);
    }
  } else {
    trial_.emplace(world_.ledger);
    version_ = world_.ledger.version();
    for (auto each = plans_.upper_bound(plan); each != plans_.end(); ++each) {
      if (const quota::Charge* charge = charge_of(each->second)) trial_->take_away(*charge);
    }
  }
  last_ = plan;
  return *trial_;
}

}  // namespace sched
