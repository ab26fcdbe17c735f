#include "scheduler/quota/line.h"

#include <utility>

namespace sched::quota {

GpuShare Pool::left() const {
  return above == nullptr ? to_lend - borrowed : above->spec().guaranteed - above->used();
}

bool Pool::gives() const {
  if (above == nullptr) {
    return left() + held_below > GpuShare() || (bounded && used - held_below < guaranteed);
  }
  const GpuShare held = above->held_below();
  if (left() + held > GpuShare()) return true;
  if (above->in_use() >= above->limit()) return false;
  // Beyond the parent's guarantee, a line below may lack only what the parent's limit leaves.
  return above->spec().limit.has_value() || (outer() != nullptr && outer()->gives());
}

bool Pool::is_claimed_beyond_limit() const {
  return above != nullptr && above->spec().limit && above->used() > *above->spec().limit;
}

const Pool* Pool::outer() const { return above == nullptr ? nullptr : above->pool(); }

Line::Line(LineSpec spec, Pool* pool) : spec_(std::move(spec)), pool_(pool) {
  if (pool_ == nullptr) return;
  pool_->guaranteed += spec_.guaranteed;
  join_pool();
  if (pool_->above != nullptr) pool_->above->change({.used = claimed({}, {})});
}

void Line::all_made() {
  idle_used_ = used_;
  if (pool_ != nullptr) pool_->lendable += to_lend();
}

GpuShare Line::kept_by_others() const { return pool_->above->idle_used_ - claimed(idle_used_, {}); }

GpuShare Line::lent_by_others() const {
  return pool_->lendable - std::min(spec_.lendable, spec_.guaranteed.beyond(idle_used_));
}

GpuShare Line::limit() const {
  if (spec_.limit) return *spec_.limit;
  if (pool_ == nullptr) return spec_.guaranteed;
  if (pool_->above == nullptr) return spec_.guaranteed + lent_by_others();
  return pool_->above->limit().beyond(kept_by_others());
}

GpuShare Line::most() const {
  if (pool_ == nullptr) return spec_.guaranteed;
  if (pool_->above != nullptr) {
    return std::min(limit(), pool_->above->most().beyond(kept_by_others()));
  }
  return std::min(limit(), spec_.guaranteed + lent_by_others());
}

GpuShare Line::more_above(GpuShare amount, GpuShare own, HeldBelow held) const {
  if (pool_ == nullptr || pool_->above == nullptr) return {};
  const GpuShare used = used_if(held);
  const GpuShare now = claimed(used, held == HeldBelow::kCounts ? held_ : GpuShare());
  return claimed(used + amount, held_ - own).beyond(now);
}

Line::Claim Line::claim() const {
  const GpuShare all = claimed(used_, held_);
  return {.all = all, .held = all - claimed(used_ - held_below_, {})};
}

Line::Answer Line::ask(GpuShare amount, GpuShare own) const {
  const Answer answer = ask(amount, own, HeldBelow::kCounts);
  const GpuShare beyond = beyond_limits_above(amount);
  if (beyond.is_zero()) return answer;
  return {Room::kNone, std::max(answer.missing, beyond)};
}

GpuShare Line::beyond_limits_above(GpuShare amount) const {
  GpuShare most;
  const Line* line = this;
  while (line->pool_ != nullptr && line->pool_->above != nullptr) {
    line = line->pool_->above;
    if (!line->spec_.limit) continue;
    most = std::max(most, (line->in_use_ + amount).beyond(*line->spec_.limit));
  }
  return most;
}

Line::Answer Line::ask(GpuShare amount, GpuShare own, HeldBelow held) const {
  const GpuShare kept = held_ - own;  // for other pods
  const GpuShare used = used_if(held);
  const GpuShare within = used + kept + amount;
  const GpuShare after = used + amount;
  const bool has_parent = pool_ != nullptr && pool_->above != nullptr;
  if (within <= spec_.guaranteed) return ask_within(amount, own, held);
  // Quota is held for pods that have waited long. So while any is held for another pod, this pod
  // may not borrow.
  if (!kept.is_zero()) return {Room::kNone, within.beyond(spec_.guaranteed)};

  GpuShare missing = after.beyond(limit());
  if (has_parent) {
    const GpuShare more = claimed(after, kept).beyond(claimed(used, held_));
    if (!more.is_zero()) missing = std::max(missing, pool_->above->ask(more, {}, held).missing);
  } else if (pool_ != nullptr) {
    const GpuShare lenders = pool_->to_lend - to_lend();
    const GpuShare borrowed = pool_->borrowed - this->borrowed() + after.beyond(spec_.guaranteed);
    missing = std::max(missing, borrowed.beyond(lenders));
  }
  return {missing.is_zero() ? Room::kBorrowed : Room::kNone, missing};
}

Line::Answer Line::ask_within(GpuShare amount, GpuShare own, HeldBelow held) const {
  if (pool_ == nullptr) return {Room::kGuaranteed, {}};
  const bool counts = held == HeldBelow::kCounts && own.is_zero();
  if (pool_->above != nullptr) {
    const HeldBelow above = counts ? HeldBelow::kCounts : HeldBelow::kIsFree;
    const GpuShare more = more_above(amount, own, above);
    if (more.is_zero()) return {Room::kGuaranteed, {}};  // the parent's line counts that already
    return pool_->asks_for_all() ? pool_->above->ask(more, {}, above)
                                 : pool_->above->ask_for_owner(more, above);
  }
  if (!pool_->bounded) return {Room::kGuaranteed, {}};
  const GpuShare used = counts ? pool_->used : pool_->used - pool_->held_below;
  const GpuShare missing = (used + amount).beyond(pool_->guaranteed);
  return {missing.is_zero() ? Room::kGuaranteed : Room::kNone, missing};
}

Line::Answer Line::ask_for_owner(GpuShare amount, HeldBelow held) const {
  if (amount.is_zero()) return {Room::kGuaranteed, {}};
  const GpuShare used = used_if(held);
  const GpuShare after = used + amount;
  const bool has_parent = pool_ != nullptr && pool_->above != nullptr;
  if (after <= spec_.guaranteed || (has_parent && pool_->asks_for_all())) {
    return ask(amount, {}, held);
  }
  GpuShare missing = spec_.limit ? after.beyond(*spec_.limit) : GpuShare();
  if (has_parent) {
    const GpuShare more = claimed(after, {}).beyond(claimed(used, {}));
    missing = std::max(missing, pool_->above->ask_for_owner(more, held).missing);
  }
  return {missing.is_zero() ? Room::kGuaranteed : Room::kNone, missing};
}

void Line::change(const Change& by) {
  Line* const above = pool_ == nullptr ? nullptr : pool_->above;
  const Claim before = above == nullptr ? Claim() : claim();
  if (pool_ != nullptr) leave_pool();
  used_ += by.used;
  in_use_ += by.in_use;
  held_ += by.held;
  held_below_ += by.held_below;
  if (pool_ != nullptr) join_pool();
  if (above == nullptr) return;
  const Claim after = claim();
  above->change({.used = after.all - before.all,
                 .in_use = by.in_use,
                 .held_below = after.held - before.held});
}

void Line::charge(GpuShare amount) { change({.used = amount, .in_use = amount}); }

void Line::refund(GpuShare amount) {
  const GpuShare less = GpuShare() - amount;
  change({.used = less, .in_use = less});
}

void Line::hold(GpuShare amount) { change({.held = amount}); }

void Line::let_go(GpuShare amount) { change({.held = GpuShare() - amount}); }

void Line::leave_pool() {
  pool_->to_lend -= to_lend();
  pool_->borrowed -= borrowed();
  pool_->used -= used_;
  pool_->held_below -= held_below_;
}

void Line::join_pool() {
  pool_->to_lend += to_lend();
  pool_->borrowed += borrowed();
  pool_->used += used_;
  pool_->held_below += held_below_;
}

}  // namespace sched::quota
