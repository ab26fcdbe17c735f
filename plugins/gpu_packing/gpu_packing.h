// GpuPacking: keeps free GPUs where they are of use, and pods without GPU off GPU nodes. The GPU
// score of the default profile.
//
// A job that needs eight GPUs of one node finds them only if smaller pods have not been sprinkled
// over all nodes, and a GPU whose node has no CPU left is lost to everybody. By what a pod asks
// for:
//
//  * whole GPUs, or a share in a replay: UsableGpu (plugins/usable_gpu) with its default arguments,
//    the node where the pod destroys least of what the typical pods of this cluster could use. A
//    node whose nvidia.com/gpu are no whole GPUs is as good as one where nothing is destroyed
//    beyond what is taken; which of several shared ones, and whether a shared one at all, is
//    GpuSharing's to say;
//  * the same before any are known: the node whose pieces of these kinds would be most taken with
//    it (of several kinds, by their mean);
//  * MIG instances, also beside GPUs: the node where what stays free is worth least, large profiles
//    and whole GPUs weighing most (instances.h);
//  * no GPU: nodes without any, whose CPU and memory GPU pods do not need. They are ahead by 100 of
//    every node with GPU, and among those it is UsableGpu again. A node whose labels speak of GPUs
//    has some also while it shows none (its device plugin restarts, or has not started yet), and so
//    has one that offers other vendors', or NVIDIA's under a name of somebody's own.
//
// On a live cluster GPUs are counts: which GPU of a node a pod gets is kubelet's choice.
//
// Arguments (GpuPackingArgs); what each alone and all together are worth: bench/replay/README.md,
// "Parts of GpuPacking". The two that are off cost more GPU than they keep on the traces tried.
//   podsWithoutGpuApart: true   pods without GPU onto nodes without
//   packPieces: true            MIG instances by what stays free, and GPUs of an unknown workload
//                               by how full the node would be; false: no opinion on them
//   keepWholeNodes: 0           milli-GPU: a node on which no GPU is taken yet counts as if the pod
//                               destroyed that much more there
//   cheapTypesFirst: []         GPU types from cheap to dear: a pod that does not say which GPU it
//                               wants goes to the earliest listed type; each step costs as much as
//                               destroying twice what the pod takes; what is not listed comes last
#pragma once

#include "scheduler/framework/registry.h"

#include <string_view>

namespace plugins {

[[nodiscard]] sched::PluginInstance make_gpu_packing(k8s::yaml::ObjectReader& args);

}  // namespace plugins
