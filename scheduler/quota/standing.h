// Where a quota stands among those whose pods wait: whose turn it is.
//
// Those whose next pod would be within their guarantee come before those that would borrow; among
// borrowers the one with the smallest dominant share of use over guarantee (dominant resource
// fairness: Ghodsi et al., NSDI'11; the resources are the GPU types); quotas without any guarantee
// come last, by how much they use. It follows from the quota's own account alone: what others do
// changes what there is to borrow, not whose turn it is.
#pragma once

#include "scheduler/quota/gpu_share.h"

#include <cstdint>

namespace sched::quota {

struct Standing {
  enum class Tier : std::uint8_t {
    kGuaranteed,  // by the best of the GPU types that the pod may use and that have room
    kBorrower,    // whether or not there is something to borrow
    kNoGuarantee,
  };
  Tier tier = Tier::kGuaranteed;
  // Of borrowers: use and guarantee of the line where their ratio is greatest. Of those without a
  // guarantee: the use of all lines, and 1.
  GpuShare used;
  GpuShare guaranteed;
};

// Less than zero if `a` comes before `b`, zero if they stand alike.
[[nodiscard]] int compare(const Standing& a, const Standing& b);

}  // namespace sched::quota
