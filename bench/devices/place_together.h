// Where instances of several profiles go if one pod asks for all of them.
//
// If they were placed one at a time by the rule of place.h, there might be no place for the last,
// although other choices would leave one: so this is a search. The profiles with the most slices
// and the fewest places go first, each to the place that the rule prefers, and dead ends are
// undone. Equally occupied GPUs are tried once, and a state that proved to be a dead end is not
// entered again, so a few instances on a few GPUs take about as many steps as there are instances.
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

// The search ends without an answer after so many steps: dozens of instances on nearly full GPUs
// may take as many.
inline constexpr int kMostSearchSteps = 20'000;

// On the first `devices` of a node; each profile once. nullopt: there is no room for all of them,
// or the search ended.
[[nodiscard]] std::optional<std::vector<sched::gpu::DeviceShare>> place_together(
    const sched::gpu::mig::Geometry& geometry, const std::vector<InstanceRequest>& requests,
    const sched::gpu::DeviceUses& uses, std::int64_t devices);

}  // namespace bench
