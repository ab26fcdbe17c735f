// GpuType: the GPUs that a pod's annotations ask for.
//
//   gpu-scheduler.io/gpu-type: "H100, A100-80GB"     in order of preference
//   gpu-scheduler.io/min-gpu-memory: 40Gi
//   gpu-scheduler.io/min-compute-capability: "8.0"
//   gpu-scheduler.io/min-driver-version: "570.86"
//   gpu-scheduler.io/min-cuda-version: "12.8"
//
// A type is a class, a class with a word for a variant, a product or a label's value
// (scheduler/gpu/type_name.h). The first listed type that has a node where the pod fits wins; other
// scores choose only among that type's nodes. nodeSelector and affinity still apply.
//
// Memory and capability are those of the GPU or MIG instance that the pod gets a piece of; with MPS
// those of a replica's part. If the node's labels do not state them, and its product is not known,
// the node does not count as having enough. The "80 GB" of marketing is 80G, not 80Gi: an H100
// reports 79.6Gi.
//
// Driver and CUDA are the node's: from the labels of GPU feature discovery for NVIDIA's driver, and
// for the newest CUDA that it supports. While the GPU operator upgrades the driver, the message has
// the state of that (nvidia.com/gpu-driver-upgrade-state).
//
// A pod without GPU may name a type, too: then it runs on nodes with such GPUs.
//
// If no node of the cluster has a type, the message of a waiting pod names the type, with the
// nearest existing ones. Without arguments.
#pragma once

#include "scheduler/framework/registry.h"

namespace plugins {

[[nodiscard]] sched::PluginInstance make_gpu_type(k8s::yaml::ObjectReader& args);

}  // namespace plugins
