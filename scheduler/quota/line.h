// The running account of one line of a quota, and of the lines that lend to each other.
//
//   guaranteed  ├──────────────────────────┤
//   used        ├───────────┤                  the rest may be lent, at most `lendable` of it
//   used        ├──────────────────────────┼────┤ borrowed
//
// Lines of one cohort with the same gpuType form a pool. What the pool can lend is the sum of what
// its lines have left of their guarantees and allow to be lent; a line may use more than its
// guarantee as long as all that is borrowed stays within that sum, and within its own limit. A line
// that takes its guarantee back needs nobody's consent: then more is borrowed for a while than can
// be lent, and nothing more is, until somebody finishes. In a pool that is bounded it waits until
// all that is used is within the sum of the guarantees.
//
// The lines of quotas that are in another quota form a pool, too: they share the parent's line. Of
// its guarantee it counts as used what they claim, which is what they use and what they keep for
// themselves although it is idle. So one of them has room beyond its own guarantee where the
// parent's line has room for what it would claim more: within the parent's guarantee, or borrowed
// from the parent's own pool. Who takes his own guarantee back needs the consent of nobody here
// either, except where the parent may not use more by its limit. Where the pool's lines are
// guaranteed more than the parent has, they ask for everything, and keep nothing for themselves.
#pragma once

#include "scheduler/quota/assignment.h"
#include "scheduler/quota/gpu_share.h"
#include "scheduler/quota/spec.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

namespace sched::quota {

class Line;

// A pool by number, until quotas change.
using PoolId = std::uint32_t;

struct Pool {
  PoolId id = 0;
  std::string cohort;
  // The parent's line that they share, and whose it is; null: they are of a cohort.
  Line* above = nullptr;
  QuotaId parent{};
  std::size_t parent_line = 0;
  GpuShare lendable;    // the sum over the lines, used or not
  GpuShare to_lend;     // the sum of Line::to_lend()
  GpuShare borrowed;    // the sum of Line::borrowed()
  GpuShare guaranteed;  // the sums over the lines
  GpuShare used;
  bool bounded = false;       // `used` may not grow beyond `guaranteed`
  bool overpromised = false;  // of a parent's: `guaranteed` is more than the parent's

  // What it has to lend and has not lent; less than zero when owners took theirs back. Of a
  // parent's: what its guarantee leaves.
  [[nodiscard]] GpuShare left() const;
  // Whether some line may have more than it has.
  [[nodiscard]] bool gives() const;
  // Of a parent's: whether its lines ask it also for what is within their guarantees.
  [[nodiscard]] bool asks_for_all() const { return bounded || overpromised; }
  // The pool from which it borrows itself; null: none.
  [[nodiscard]] const Pool* outer() const;
};

// Whether a charge has room, and where that comes from.
enum class Room : std::uint8_t { kGuaranteed, kBorrowed, kNone };

class Line {
 public:
  // `pool` outlives the line; null: nothing is borrowed or lent.
  Line(LineSpec spec, Pool* pool);

  [[nodiscard]] const LineSpec& spec() const { return spec_; }
  [[nodiscard]] const Pool* pool() const { return pool_; }
  // Of a parent's line: what the lines that share it claim.
  [[nodiscard]] GpuShare used() const { return used_; }
  [[nodiscard]] GpuShare held() const { return held_; }
  // The most that may be used, with what is borrowed.
  [[nodiscard]] GpuShare limit() const;
  // The same, if the others of the pool cannot lend that much: what they lend when all is idle.
  [[nodiscard]] GpuShare most() const;
  [[nodiscard]] GpuShare borrowed() const { return used_.beyond(spec_.guaranteed); }
  // What others may use of the guarantee now.
  [[nodiscard]] GpuShare to_lend() const {
    return std::min(spec_.lendable, spec_.guaranteed.beyond(used_ + held_));
  }

  // The same whatever is held: what others may be said to use of it.
  [[nodiscard]] GpuShare idle() const {
    return std::min(spec_.lendable, spec_.guaranteed.beyond(used_));
  }

  // Whether `amount` more has room for a pod for which `own` of what is held is kept, and if not,
  // how much must be freed first.
  struct Answer {
    Room room = Room::kNone;
    GpuShare missing{};
  };
  [[nodiscard]] Answer ask(GpuShare amount, GpuShare own = {}) const;

  void charge(GpuShare amount);
  void refund(GpuShare amount);
  // Keeps `amount` for one pod; zero: no more.
  void hold(GpuShare amount);
  // That copy of its pool is its pool from now on.
  void use(Pool& copy) { pool_ = &copy; }

 private:
  // What a parent's line counts as used by it, were so much used and held: that, and what of its
  // idle guarantee is not for others.
  [[nodiscard]] GpuShare claimed(GpuShare used, GpuShare held) const {
    if (pool_->overpromised) return used;
    const GpuShare to_lend = std::min(spec_.lendable, spec_.guaranteed.beyond(used + held));
    return used + spec_.guaranteed.beyond(used) - to_lend;
  }
  // What a line that shares this one asks for, within its own guarantee.
  [[nodiscard]] Answer ask_for_owner(GpuShare amount) const;
  [[nodiscard]] Answer ask_within(GpuShare amount, GpuShare more) const;
  void leave_pool();
  void join_pool();
  // Changes the account by `how()`, and what the lines above count of it.
  template <typename How>
  void change(const How& how);

  LineSpec spec_;
  Pool* pool_;
  GpuShare used_;
  GpuShare held_;
};

}  // namespace sched::quota
