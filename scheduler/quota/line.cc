#include "scheduler/quota/line.h"

#include <utility>

namespace sched::quota {

GpuShare Pool::left() const {
  return above == nullptr ? to_lend - borrowed : above->spec().guaranteed - above->used();
}

bool Pool::gives() const {
  if (left() > GpuShare()) return true;
  if (above == nullptr) return bounded && used < guaranteed;
  if (above->used() >= above->limit()) return false;
  // Beyond the parent's guarantee, a line below may lack only what the parent's limit leaves.
  return above->spec().limit.has_value() || (outer() != nullptr && outer()->gives());
}

const Pool* Pool::outer() const { return above == nullptr ? nullptr : above->pool(); }

Line::Line(LineSpec spec, Pool* pool) : spec_(std::move(spec)), pool_(pool) {
  if (pool_ == nullptr) return;
  pool_->lendable += spec_.lendable;
  pool_->guaranteed += spec_.guaranteed;
  join_pool();
  if (pool_->above != nullptr) pool_->above->charge(claimed({}, {}));
}

GpuShare Line::limit() const {
  if (spec_.limit) return *spec_.limit;
  if (pool_ == nullptr) return spec_.guaranteed;
  if (pool_->above == nullptr) return spec_.guaranteed + (pool_->lendable - spec_.lendable);
  if (pool_->overpromised) return pool_->above->limit();
  const GpuShare kept_by_all = pool_->guaranteed - pool_->lendable;
  const GpuShare kept = spec_.guaranteed - spec_.lendable;
  return pool_->above->limit().beyond(kept_by_all - kept);
}

GpuShare Line::most() const {
  if (pool_ == nullptr) return spec_.guaranteed;
  if (pool_->above != nullptr) return std::min(limit(), pool_->above->most());
  return std::min(limit(), spec_.guaranteed + (pool_->lendable - spec_.lendable));
}

GpuShare Line::more_above(GpuShare amount, GpuShare own) const {
  if (pool_ == nullptr || pool_->above == nullptr) return {};
  return claimed(used_ + amount, held_ - own).beyond(claimed(used_, held_));
}

Line::Answer Line::ask(GpuShare amount, GpuShare own) const {
  const GpuShare kept = held_ - own;  // for other pods
  const GpuShare within = used_ + kept + amount;
  const GpuShare after = used_ + amount;
  const bool has_parent = pool_ != nullptr && pool_->above != nullptr;
  const GpuShare more = more_above(amount, own);
  if (within <= spec_.guaranteed) return ask_within(amount, more);
  // Quota is held for pods that have waited long. So while any is held for another pod, this pod
  // may not borrow.
  if (!kept.is_zero()) return {Room::kNone, within.beyond(spec_.guaranteed)};

  GpuShare missing = after.beyond(limit());
  if (has_parent) {
    if (!more.is_zero()) missing = std::max(missing, pool_->above->ask(more).missing);
  } else if (pool_ != nullptr) {
    const GpuShare lenders = pool_->to_lend - to_lend();
    const GpuShare borrowed = pool_->borrowed - this->borrowed() + after.beyond(spec_.guaranteed);
    missing = std::max(missing, borrowed.beyond(lenders));
  }
  return {missing.is_zero() ? Room::kBorrowed : Room::kNone, missing};
}

Line::Answer Line::ask_within(GpuShare amount, GpuShare more) const {
  if (pool_ == nullptr) return {Room::kGuaranteed, {}};
  if (pool_->above != nullptr) {
    if (more.is_zero()) return {Room::kGuaranteed, {}};  // the parent's line counts that already
    return pool_->asks_for_all() ? pool_->above->ask(more) : pool_->above->ask_for_owner(more);
  }
  if (!pool_->bounded) return {Room::kGuaranteed, {}};
  const GpuShare missing = (pool_->used + amount).beyond(pool_->guaranteed);
  return {missing.is_zero() ? Room::kGuaranteed : Room::kNone, missing};
}

Line::Answer Line::ask_for_owner(GpuShare amount) const {
  if (amount.is_zero()) return {Room::kGuaranteed, {}};
  const GpuShare after = used_ + amount;
  const bool has_parent = pool_ != nullptr && pool_->above != nullptr;
  if (after <= spec_.guaranteed || (has_parent && pool_->asks_for_all())) return ask(amount);
  GpuShare missing = spec_.limit ? after.beyond(*spec_.limit) : GpuShare();
  if (has_parent) {
    const GpuShare more = claimed(after, {}).beyond(claimed(used_, {}));
    missing = std::max(missing, pool_->above->ask_for_owner(more).missing);
  }
  return {missing.is_zero() ? Room::kGuaranteed : Room::kNone, missing};
}

template <typename How>
void Line::change(const How& how) {
  if (pool_ == nullptr) return how();
  const bool has_parent = pool_->above != nullptr;
  const GpuShare before = has_parent ? claimed(used_, held_) : GpuShare();
  leave_pool();
  how();
  join_pool();
  if (!has_parent) return;
  const GpuShare after = claimed(used_, held_);
  if (after > before) pool_->above->charge(after - before);
  if (after < before) pool_->above->refund(before - after);
}

void Line::charge(GpuShare amount) {
  change([&] { used_ += amount; });
}

void Line::refund(GpuShare amount) {
  change([&] { used_ -= amount; });
}

void Line::hold(GpuShare amount) {
  change([&] { held_ += amount; });
}

void Line::let_go(GpuShare amount) {
  change([&] { held_ -= amount; });
}

void Line::leave_pool() {
  pool_->to_lend -= to_lend();
  pool_->borrowed -= borrowed();
  pool_->used -= used_;
}

void Line::join_pool() {
  pool_->to_lend += to_lend();
  pool_->borrowed += borrowed();
  pool_->used += used_;
}

}  // namespace sched::quota
