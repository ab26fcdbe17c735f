// GpuDevices: whether a pod fits on single GPUs, if devices are kept one by one.
//
// Counting is enough for whole GPUs. A share of a GPU needs one device with that much free, and a
// MIG instance one with a free legal start of its profile. Applies if the engine keeps devices
// apart (replays). On a live cluster, where GPUs are only counted, it refuses nothing, and
// NodeResourcesFit decides. Without arguments.
#pragma once

#include "scheduler/framework/registry.h"
#include "scheduler/gpu/demand.h"

#include <memory>

namespace bench {

[[nodiscard]] sched::PluginInstance make_gpu_devices(k8s::yaml::ObjectReader& args);

// The check for pods that ask for MIG instances: whether the node's GPUs, as they are now, have
// room for these. A node with GPUs that are only counted (or without GPUs) is left to
// NodeResourcesFit.
[[nodiscard]] std::unique_ptr<sched::NodeFilter> make_mig_check(const sched::gpu::Demand& demand);

}  // namespace bench
