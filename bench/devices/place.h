// Where MIG instances go on the GPUs of a node.
//
// The default rule: the GPU with the fewest free slices that still has a place, and there the
// highest legal start; if several GPUs are equally full, the one with the highest start. Large
// profiles do not need high starts (4g and 7g begin at 0 only), so this rule loses fewer of their
// places than filling from below (figures: bench/mig/README.md).
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

// The same for the first `devices` of a node. O(devices).
[[nodiscard]] std::int64_t room_for(const sched::gpu::mig::Profile& profile,
                                    const sched::gpu::DeviceUses& uses, std::int64_t devices);

// The places of `instances` by the rule above; nullopt: there is no room for all of them.
[[nodiscard]] std::optional<std::vector<sched::gpu::DeviceShare>> place(
    const sched::gpu::mig::Profile& profile, std::int64_t instances,
    const sched::gpu::DeviceUses& uses, std::int64_t devices);

}  // namespace bench
