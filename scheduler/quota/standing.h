// Where a quota stands among those whose pods wait: whose turn it is.
//
// Those whose next pod would be within their guarantee come before those that would borrow. Among
// borrowers the one comes first whose line of that lending pool has the smallest share of use over
// guarantee, so that what the pool lends goes to its lines by their guarantees; what a quota uses
// of other types is another matter. A line that has no guarantee has an infinite share: such come
// last, by how much they use. It follows from the quota's own account alone: what others do changes
// what there is to borrow, not whose turn it is.
#pragma once

#include "scheduler/quota/gpu_share.h"
#include "scheduler/quota/line.h"

#include <cstdint>

namespace sched::quota {

struct Standing {
  enum class Tier : std::uint8_t {
    kGuaranteed,  // by the best of the GPU types that the pod may use and that have room
    kBorrower,    // whether or not there is something to borrow
    kNoGuarantee,
  };
  Tier tier = Tier::kGuaranteed;
  // Of borrowers: use and guarantee of the line of which they would borrow; of several that of
  // which they stand best. Of those without a guarantee: its use, and 1.
  GpuShare used;
  GpuShare guaranteed;
};

// Where a quota stands among those that would borrow of a pool.
struct InPool {
  PoolId pool = 0;
  Standing standing;
};

// Less than zero if `a` comes before `b`, zero if they stand alike.
[[nodiscard]] int compare(const Standing& a, const Standing& b);

}  // namespace sched::quota
