// What GpuDevices says of pods that ask for MIG instances.
#pragma once

#include "scheduler/framework/plugin.h"
#include "scheduler/gpu/demand.h"

#include <memory>

namespace bench {

// Whether the instances can be cut from the node's GPUs as they are now. A node whose GPUs are only
// counted (or that has none) is left to NodeResourcesFit.
[[nodiscard]] std::unique_ptr<sched::NodeFilter> make_mig_check(const sched::gpu::Demand& demand);

}  // namespace bench
