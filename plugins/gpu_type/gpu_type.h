// GpuType: the GPUs that a pod's annotations ask for.
//
//   gpu-scheduler.io/gpu-type: "H100, A100-80GB"     in order of preference
//   gpu-scheduler.io/min-gpu-memory: 40Gi
//   gpu-scheduler.io/min-compute-capability: "8.0"
//   gpu-scheduler.io/min-driver-version: "570.86"
//   gpu-scheduler.io/min-cuda-version: "12.8"
//
// A type is a class, a class with what tells its variants apart, a product or a label's value
// (scheduler/gpu/type_name.h). Of several, the first that has a node where the pod fits wins; other
// scores choose among that type's nodes only. nodeSelector and affinity go on working beside it.
//
// Memory and capability are those of what the pod gets a piece of: a GPU, or a MIG instance; with
// MPS a replica's part. A node whose labels do not say, and whose product is not known either, does
// not count as having enough. "80 GB" on a box is 80G, not 80Gi: an H100 reports 79.6Gi.
//
// Driver and CUDA are of the node: what GPU feature discovery says of NVIDIA's driver, and of the
// newest CUDA that it serves. Where the GPU operator is just bringing the driver up to date, the
// message says how far it is (nvidia.com/gpu-driver-upgrade-state).
//
// A pod without GPU may name a type, too: then it runs on nodes that have such GPUs.
//
// A type that no node of the cluster has is named in the message of a pod that waits, with the
// nearest ones that there are. Without arguments.
#pragma once

#include "scheduler/framework/registry.h"

namespace plugins {

[[nodiscard]] sched::PluginInstance make_gpu_type(k8s::yaml::ObjectReader& args);

}  // namespace plugins
