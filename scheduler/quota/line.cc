#include "scheduler/quota/line.h"

#include <utility>

namespace sched::quota {

Line::Line(LineSpec spec, Pool* pool) : spec_(std::move(spec)), pool_(pool) {
  if (pool_ != nullptr) {
    pool_->lendable += spec_.lendable;
    pool_->guaranteed += spec_.guaranteed;
  }
  join_pool();
}

GpuShare Line::limit() const {
  if (pool_ == nullptr) return spec_.guaranteed;
  return spec_.limit.value_or(spec_.guaranteed + (pool_->lendable - spec_.lendable));
}

GpuShare Line::most() const {
  if (pool_ == nullptr) return spec_.guaranteed;
  return std::min(limit(), spec_.guaranteed + (pool_->lendable - spec_.lendable));
}

Line::Answer Line::ask(GpuShare amount, GpuShare own) const {
  const GpuShare kept = held_ - own;  // for another pod
  const GpuShare within = used_ + kept + amount;
  if (within <= spec_.guaranteed) {
    if (pool_ == nullptr || !pool_->bounded) return {Room::kGuaranteed, {}};
    const GpuShare missing = (pool_->used + amount).beyond(pool_->guaranteed);
    return {missing.is_zero() ? Room::kGuaranteed : Room::kNone, missing};
  }
  // Whoever is next in line has waited long: nobody passes him by borrowing.
  if (!kept.is_zero()) return {Room::kNone, within.beyond(spec_.guaranteed)};

  const GpuShare after = used_ + amount;
  GpuShare missing = after.beyond(limit());
  if (pool_ != nullptr) {
    const GpuShare lenders = pool_->to_lend - to_lend();
    const GpuShare borrowed = pool_->borrowed - this->borrowed() + after.beyond(spec_.guaranteed);
    missing = std::max(missing, borrowed.beyond(lenders));
  }
  return {missing.is_zero() ? Room::kBorrowed : Room::kNone, missing};
}

void Line::charge(GpuShare amount) {
  leave_pool();
  used_ += amount;
  join_pool();
}

void Line::refund(GpuShare amount) {
  leave_pool();
  used_ -= amount;
  join_pool();
}

void Line::hold(GpuShare amount) {
  leave_pool();
  held_ = amount;
  join_pool();
}

void Line::leave_pool() {
  if (pool_ == nullptr) return;
  pool_->to_lend -= to_lend();
  pool_->borrowed -= borrowed();
  pool_->used -= used_;
}

void Line::join_pool() {
  if (pool_ == nullptr) return;
  pool_->to_lend += to_lend();
  pool_->borrowed += borrowed();
  pool_->used += used_;
}

}  // namespace sched::quota
