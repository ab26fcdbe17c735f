// GpuPacking: fills GPU nodes one after the other, and keeps pods without GPU off them.
//
// A job that needs eight GPUs of one node finds them only if smaller pods have not been sprinkled
// over all nodes. So a pod with GPU prefers the node whose GPUs (of the kinds it asks for: whole,
// shared, MIG profiles) would be most taken with it; a pod without GPU prefers nodes that have
// none, whose cpu and memory GPU pods do not need. Counts only: which GPU of a node a pod gets is
// kubelet's choice. Without arguments.
#pragma once

#include "scheduler/framework/registry.h"

#include <string_view>

namespace plugins {

// nvidia.com/gpu, nvidia.com/gpu.shared and nvidia.com/mig-*.
[[nodiscard]] bool is_gpu_resource(std::string_view name);

[[nodiscard]] sched::PluginInstance make_gpu_packing(k8s::yaml::ObjectReader& args);

}  // namespace plugins
