// GpuDevices: whether a pod fits on single GPUs, where they are kept one by one.
//
// Counting is enough for whole GPUs; a share of a GPU needs one device with that much free, and a
// MIG instance one where a legal start of its profile is free. Applies where the engine keeps
// devices apart (replays); on a live cluster, where GPUs are only counted, it has nothing to say
// and NodeResourcesFit is the judge. Without arguments.
#pragma once

#include "scheduler/framework/registry.h"
#include "scheduler/gpu/demand.h"

#include <memory>

namespace bench {

[[nodiscard]] sched::PluginInstance make_gpu_devices(k8s::yaml::ObjectReader& args);

// What it says of pods that ask for MIG instances: whether these can be cut from the node's GPUs as
// they are now. A node whose GPUs are only counted (or that has none) is left to NodeResourcesFit.
[[nodiscard]] std::unique_ptr<sched::NodeFilter> make_mig_check(const sched::gpu::Demand& demand);

}  // namespace bench
