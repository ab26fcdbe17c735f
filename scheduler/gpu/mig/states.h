// Every way to cut a GPU: for tables over all of them, and for tests that count them.
//
// Small enough to be listed: an 8-slice GPU has 723 states of its plain profiles.
#pragma once

#include "scheduler/gpu/mig/geometry.h"

#include <vector>

namespace sched::gpu::mig {

struct Placement {
  const Profile* profile = nullptr;
  unsigned start = 0;
};

// A set of instances that can be on one GPU together, by start.
using State = std::vector<Placement>;

// All states of instances of these profiles, which belong to one geometry of `slices` slices; the
// empty state first.
[[nodiscard]] std::vector<State> states(unsigned slices,
                                        const std::vector<const Profile*>& profiles);

// What the instances of `state` take.
[[nodiscard]] DeviceUse use_of(const State& state);

// The states to which no further instance of these profiles can be added.
[[nodiscard]] std::vector<State> maximal_states(unsigned slices,
                                                const std::vector<const Profile*>& profiles);

// The profiles of a geometry that are not variants of others.
[[nodiscard]] std::vector<const Profile*> plain_profiles(const Geometry& geometry);

}  // namespace sched::gpu::mig
