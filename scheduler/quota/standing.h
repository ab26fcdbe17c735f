// Where a quota stands among the quotas with waiting pods; this decides which has the next turn.
//
// Quotas with a next pod within their guarantee come before those that would borrow. Borrowers are
// ordered by what their line in that lending pool has borrowed for its weight, least first. So the
// pool is lent to its lines by weight; what a quota uses of other types does not matter. The weight
// of a line is its guarantee, unless its quota sets another (with the guarantee as the weight, use
// over guarantee is compared). A line without weight comes last, ordered by its use. A standing
// follows from the account of the quota and those of its parents: what other quotas use changes
// what there is to borrow, not the order.
//
// Quotas that have parents are compared from the outermost level on. Of two departments, the one
// comes first that has some of its guarantee left, or that has borrowed less for its weight,
// whatever its teams have. Teams of one department are compared with each other.
#pragma once

#include "scheduler/quota/gpu_share.h"
#include "scheduler/quota/line.h"
#include "scheduler/quota/spec.h"

#include <array>
#include <cstdint>

namespace sched::quota {

struct Standing {
  enum class Tier : std::uint8_t {
    kGuaranteed,  // for the best of the GPU types that the pod may use and that have room
    kBorrower,    // whether or not there is something to borrow
    kNoGuarantee,
  };
  struct Share {
    Tier tier = Tier::kGuaranteed;
    // Of borrowers: the use beyond the guarantee (less than zero if part of the guarantee is not
    // used) and the weight of the line that would borrow; if several could, of the line with the
    // best standing. Without a weight: the use, and 1.
    GpuShare beyond;
    GpuShare weight;
    friend bool operator==(const Share&, const Share&) = default;
  };
  // The outermost quota's share first; after the quota's own share only kGuaranteed ones.
  std::array<Share, kMostLevels> levels{};
  friend bool operator==(const Standing&, const Standing&) = default;
};

// Where a quota stands among those that would borrow from a pool.
struct InPool {
  PoolId pool = 0;
  Standing standing;
};

// Less than zero if `a` comes before `b`, zero if they are equal.
[[nodiscard]] int compare(const Standing& a, const Standing& b);

}  // namespace sched::quota
