// Where instances of several profiles go when one pod asks for all of them.
//
// One at a time by the rule of place.h may leave no place for the last, although another choice
// would have: so this is a search. The profiles with the most slices and the fewest places go
// first, each to the place that the rule likes best, and what turns out to be a dead end is taken
// back. GPUs that are as occupied as each other are tried once, and a state that was found to be a
// dead end is not entered again, so a few instances on a few GPUs take about as many steps as there
// are instances.
#pragma once

#include "scheduler/gpu/devices.h"
#include "scheduler/gpu/mig/geometry.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace bench {

struct InstanceRequest {
  const sched::gpu::mig::Profile* profile = nullptr;  // of the geometry; never null
  std::int64_t count = 0;
};

// The search ends without an answer after so many steps: dozens of instances on GPUs that are
// nearly full may take as many.
inline constexpr int kMostSearchSteps = 20'000;

// Over the first `devices` of a node; each profile comes once. nullopt: there is no room for all of
// them, or the search ended.
[[nodiscard]] std::optional<std::vector<sched::gpu::DeviceShare>> place_together(
    const sched::gpu::mig::Geometry& geometry, const std::vector<InstanceRequest>& requests,
    const sched::gpu::DeviceUses& uses, std::int64_t devices);

}  // namespace bench
