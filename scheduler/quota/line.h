// The running account of one line of a quota, and of the lines that lend to each other.
//
//   guaranteed  ├──────────────────────────┤
//   used        ├───────────┤                  the rest may be lent, at most `lendable` of it
//   used        ├──────────────────────────┼────┤ borrowed
//
// Lines of one cohort with the same gpuType form a pool. What the pool can lend is the sum, over
// its lines, of what is left of their guarantees and may be lent. A line may use more than its
// guarantee if all that is borrowed stays within that sum, and the line within its own limit. A
// line can always take its guarantee back. Then more is borrowed than can be lent; nothing more is
// lent until pods have finished. In a bounded pool the line waits until all that is used is within
// the sum of the guarantees.
//
// The lines of quotas that are in a parent quota form a pool, too: they share the parent's line. As
// used, the parent's line counts what these lines claim: what they use, and what of their idle
// guarantees may not be lent. So a line has room beyond its own guarantee if the parent's line has
// room for the larger claim: within the parent's guarantee, or borrowed from the parent's own pool.
// Here too a line can always take its guarantee back. Exception: the limit that the spec of a line
// above sets: all that runs below that line stays within it, also what a line keeps for itself,
// although the lines above claim that already. If the pool's lines are guaranteed more than the
// parent's line has, each line needs room in the parent's line for everything that it uses, and
// claims of its idle guarantee only what it holds.
//
// What a line holds is a claim on the parent's line, too, so that no sibling borrows it meanwhile.
// Unlike other claims it may go beyond what the parent's line has, and the pod that it is held for
// may not count it as room there: it asks the parent's line as if nothing were held below. So a
// limit applies to that pod as to any other, and pods of two lines do not wait for each other's
// holds.
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

// The number of a pool, until quotas change.
using PoolId = std::uint32_t;

struct Pool {
  PoolId id = 0;
  std::string cohort;
  // The parent's line that the pool's lines share, and the parent; null: a pool of a cohort.
  Line* above = nullptr;
  QuotaId parent{};
  std::size_t parent_line = 0;
  GpuShare lendable;    // of a cohort: `to_lend` while nothing is charged
  GpuShare to_lend;     // the sum of Line::to_lend()
  GpuShare borrowed;    // the sum of Line::borrowed()
  GpuShare guaranteed;  // the sums over the lines
  GpuShare used;
  GpuShare held_below;        // of `used`: the sum of Line::held_below()
  bool bounded = false;       // `used` may not grow beyond `guaranteed`
  bool overpromised = false;  // under a parent: `guaranteed` is more than the parent's line has

  // What the pool can lend and has not lent; less than zero if lines took their guarantees back.
  // Under a parent: what is left of the parent line's guarantee.
  [[nodiscard]] GpuShare left() const;
  // Whether a line may get more than it has, for a pod for which something is held at least.
  [[nodiscard]] bool gives() const;
  // Under a parent: whether its line is beyond the limit that its spec sets with what the lines
  // below claim. Then what runs below decides whether these may have what they keep.
  [[nodiscard]] bool is_claimed_beyond_limit() const;
  // Under a parent: whether its lines ask the parent's line even within their guarantees.
  [[nodiscard]] bool asks_for_all() const { return bounded || overpromised; }
  // The pool from which the parent's line borrows; null: none.
  [[nodiscard]] const Pool* outer() const;
};

// Whether a charge has room, and where that comes from.
enum class Room : std::uint8_t { kGuaranteed, kBorrowed, kNone };

class Line {
 public:
  // `pool` outlives the line; null: nothing is borrowed or lent.
  Line(LineSpec spec, Pool* pool);
  // All lines have been made, and nothing is charged yet. Once for each line.
  void all_made();

  [[nodiscard]] const LineSpec& spec() const { return spec_; }
  [[nodiscard]] const Pool* pool() const { return pool_; }
  // Of a parent's line: what the lines that share it claim.
  [[nodiscard]] GpuShare used() const { return used_; }
  // What its pods use; of a parent's line, the pods of all lines below it, too.
  [[nodiscard]] GpuShare in_use() const { return in_use_; }
  [[nodiscard]] GpuShare held() const { return held_; }
  // Of a parent's line: the part of used() that the lines below claim because they hold it.
  [[nodiscard]] GpuShare held_below() const { return held_below_; }
  // Whether it may use all of its guarantee, whatever is lent of it.
  [[nodiscard]] bool always_has_guarantee() const {
    return pool_ == nullptr || (pool_->above == nullptr && !pool_->bounded);
  }
  // The most that may be used, including what is borrowed: without a limit in the spec, what the
  // other lines leave or lend while nothing is charged.
  [[nodiscard]] GpuShare limit() const;
  // The same, but also with a limit in the spec at most what the other lines leave or lend.
  [[nodiscard]] GpuShare most() const;
  [[nodiscard]] GpuShare borrowed() const { return used_.beyond(spec_.guaranteed); }
  // What other lines may use of the guarantee now.
  [[nodiscard]] GpuShare to_lend() const {
    return std::min(spec_.lendable, spec_.guaranteed.beyond(used_ + held_));
  }

  // borrowed() and to_lend() without regard to what is held, here and below: what is reported, and
  // what others may take back.
  [[nodiscard]] GpuShare borrowed_in_use() const {
    return used_if(HeldBelow::kIsFree).beyond(spec_.guaranteed);
  }
  [[nodiscard]] GpuShare idle() const {
    return std::min(spec_.lendable, spec_.guaranteed.beyond(used_if(HeldBelow::kIsFree)));
  }

  // Whether held_below() counts as used: not for a pod for which something is held.
  enum class HeldBelow : std::uint8_t { kCounts, kIsFree };
  [[nodiscard]] GpuShare used_if(HeldBelow held) const {
    return held == HeldBelow::kCounts ? used_ : used_ - held_below_;
  }
  // How much more the parent's line would count as used if `amount` more were charged, for a pod
  // for which `own` is held.
  [[nodiscard]] GpuShare more_above(GpuShare amount, GpuShare own, HeldBelow held) const;

  // Whether there is room for `amount` more, for a pod from which all that is held is kept except
  // `own`; if not, how much must be freed first.
  struct Answer {
    Room room = Room::kNone;
    GpuShare missing{};
  };
  [[nodiscard]] Answer ask(GpuShare amount, GpuShare own = {}) const;

  void charge(GpuShare amount);
  void refund(GpuShare amount);
  // Holds `amount` more, for one pod; holds it no longer.
  void hold(GpuShare amount);
  void let_go(GpuShare amount);
  // Makes that copy of its pool its pool.
  void use(Pool& copy) { pool_ = &copy; }

 private:
  // What the parent's line counts as used by this line, if so much were used and held: what is
  // used, and the part of its idle guarantee that is held or may not be lent.
  [[nodiscard]] GpuShare claimed(GpuShare used, GpuShare held) const {
    if (pool_->overpromised) return used + std::min(held, spec_.guaranteed.beyond(used));
    const GpuShare to_lend = std::min(spec_.lendable, spec_.guaranteed.beyond(used + held));
    return used + spec_.guaranteed.beyond(used) - to_lend;
  }
  // What the parent's line counts as used by this line, and the part of it that is held.
  struct Claim {
    GpuShare all;
    GpuShare held;
  };
  [[nodiscard]] Claim claim() const;

  [[nodiscard]] Answer ask(GpuShare amount, GpuShare own, HeldBelow held) const;
  // The answer to a line that shares this one and asks within its own guarantee.
  [[nodiscard]] Answer ask_for_owner(GpuShare amount, HeldBelow held) const;
  // The answer if what is used and kept for others stays within the guarantee.
  [[nodiscard]] Answer ask_within(GpuShare amount, GpuShare own, HeldBelow held) const;
  // While nothing is charged: what the lines that share the parent's line keep of it, / what the
  // lines of the cohort may lend, this one excepted.
  [[nodiscard]] GpuShare kept_by_others() const;
  [[nodiscard]] GpuShare lent_by_others() const;
  // By how much `amount` more would exceed the limits that the lines above set.
  [[nodiscard]] GpuShare beyond_limits_above(GpuShare amount) const;
  void leave_pool();
  void join_pool();
  // By how much the account changes, more or less.
  struct Change {
    GpuShare used{};
    GpuShare in_use{};
    GpuShare held{};
    GpuShare held_below{};
  };
  // Changes the account, and what the lines above count of it.
  void change(const Change& by);

  LineSpec spec_;
  Pool* pool_;
  GpuShare used_;
  GpuShare in_use_;
  GpuShare idle_used_;  // used_ while nothing is charged: what the lines below keep
  GpuShare held_;
  GpuShare held_below_;
};

}  // namespace sched::quota
