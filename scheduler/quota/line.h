// The running account of one line of a quota, and of the lines of one cohort that lend to each
// other.
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
#pragma once

#include "scheduler/quota/gpu_share.h"
#include "scheduler/quota/spec.h"

#include <algorithm>
#include <cstdint>
#include <string>

namespace sched::quota {

// A pool by number, until quotas change.
using PoolId = std::uint32_t;

struct Pool {
  PoolId id = 0;
  std::string cohort;
  GpuShare lendable;    // the sum over the lines, used or not
  GpuShare to_lend;     // the sum of Line::to_lend()
  GpuShare borrowed;    // the sum of Line::borrowed()
  GpuShare guaranteed;  // the sums over the lines
  GpuShare used;
  bool bounded = false;  // `used` may not grow beyond `guaranteed`

  // What it has to lend and has not lent; less than zero when owners took theirs back.
  [[nodiscard]] GpuShare left() const { return to_lend - borrowed; }
  // Whether some line may have more than it has.
  [[nodiscard]] bool gives() const { return left() > GpuShare() || (bounded && used < guaranteed); }
};

// Whether a charge has room, and where that comes from.
enum class Room : std::uint8_t { kGuaranteed, kBorrowed, kNone };

class Line {
 public:
  // `pool` outlives the line; null: nothing is borrowed or lent.
  Line(LineSpec spec, Pool* pool);

  [[nodiscard]] const LineSpec& spec() const { return spec_; }
  [[nodiscard]] const Pool* pool() const { return pool_; }
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
  void leave_pool();
  void join_pool();

  LineSpec spec_;
  Pool* pool_;
  GpuShare used_;
  GpuShare held_;
};

}  // namespace sched::quota
