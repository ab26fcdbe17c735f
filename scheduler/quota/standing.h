// Where a quota stands among those whose pods wait: whose turn it is.
//
// Those whose next pod would be within their guarantee come before those that would borrow. Among
// borrowers the one comes first whose line of that lending pool has borrowed least for its weight,
// so that what the pool lends goes to its lines by their weights; what a quota uses of other types
// is another matter. The weight of a line is its guarantee, unless its quota says another. (Then
// what is compared comes to use over guarantee.) A line without weight comes last, by how much it
// uses. It follows from the quota's own account and those of the quotas that it is in: what others
// do changes what there is to borrow, not whose turn it is.
//
// Quotas that are in others are compared from the outermost on: of two departments that one comes
// first that has something left of its guarantee, or has borrowed less for its weight, whatever its
// teams have; teams of one department among themselves.
#pragma once

#include "scheduler/quota/gpu_share.h"
#include "scheduler/quota/line.h"
#include "scheduler/quota/spec.h"

#include <array>
#include <cstdint>

namespace sched::quota {

struct Standing {
  enum class Tier : std::uint8_t {
    kGuaranteed,  // by the best of the GPU types that the pod may use and that have room
    kBorrower,    // whether or not there is something to borrow
    kNoGuarantee,
  };
  struct Share {
    Tier tier = Tier::kGuaranteed;
    // Of borrowers: what is used beyond the guarantee of the line of which they would borrow, less
    // than zero if not all of that is used, and the line's weight; of several lines that of which
    // they stand best. Without a weight: the use, and 1.
    GpuShare beyond;
    GpuShare weight;
    friend bool operator==(const Share&, const Share&) = default;
  };
  // The outermost quota's first; behind the quota's own nothing but what is guaranteed.
  std::array<Share, kMostLevels> levels{};
  friend bool operator==(const Standing&, const Standing&) = default;
};

// Where a quota stands among those that would borrow of a pool.
struct InPool {
  PoolId pool = 0;
  Standing standing;
};

// Less than zero if `a` comes before `b`, zero if they stand alike.
[[nodiscard]] int compare(const Standing& a, const Standing& b);

}  // namespace sched::quota
