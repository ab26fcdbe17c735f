// Where MIG instances go on the GPUs of a node.
//
// The rule when nothing better is known: the GPU with the fewest free slices that still has a
// place, and there the highest legal start; where several GPUs are as full as each other, the one
// that offers the highest start. High starts are the ones that large profiles can do without (4g
// and 7g begin at 0 only), so it loses fewer of them than filling from below
// (figures: bench/mig/README.md).
#pragma once

#include "scheduler/gpu/devices.h"
#include "scheduler/gpu/mig/geometry.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace bench {

// How many further instances of the profile one device can take. O(1).
[[nodiscard]] std::int64_t room_for(const sched::gpu::mig::Profile& profile,
                                    const sched::gpu::DeviceUse& use);

// The same over the first `devices` of a node. O(devices).
[[nodiscard]] std::int64_t room_for(const sched::gpu::mig::Profile& profile,
                                    const sched::gpu::DeviceUses& uses, std::int64_t devices);

// Where `instances` go by the rule above; nullopt: there is no room for all of them.
[[nodiscard]] std::optional<std::vector<sched::gpu::DeviceShare>> place(
    const sched::gpu::mig::Profile& profile, std::int64_t instances,
    const sched::gpu::DeviceUses& uses, std::int64_t devices);

}  // namespace bench
