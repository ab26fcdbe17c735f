// How much of a GPU further MIG instances would fill.
//
// Imagine that nothing leaves and requests keep coming until none fits any more; each asks for one
// of the profiles that still fit, as often as it takes slices, and lies where that leaves the most
// to be filled. The slices that are filled in the end, on average, tell how good the free ones are:
// not only whether a profile fits, but what is left after it.
#pragma once

#include "scheduler/gpu/mig/geometry.h"

#include <cstdint>
#include <vector>

namespace bench {

// Parts of a slice in which the fill is counted.
inline constexpr std::int64_t kFillScale = 1'000;

// By occupied slices, 2^slices entries, in kFillScale-ths of a slice, rounded down. Plain profiles
// only. O(2^slices · starts).
[[nodiscard]] std::vector<std::int64_t> expected_fill(const sched::gpu::mig::Geometry& geometry);

}  // namespace bench
