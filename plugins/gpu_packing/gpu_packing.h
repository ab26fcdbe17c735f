// GpuPacking: keeps free GPUs where pods can use them, and pods without GPU off GPU nodes. The GPU
// score of the default profile.
//
// A job that needs eight GPUs of one node finds them only if smaller pods are not spread over all
// nodes, and no pod can use a GPU on a node without free CPU. By what a pod asks for:
//
//  * whole GPUs, or a share in a replay: UsableGpu (plugins/usable_gpu) with its default arguments:
//    the node where the pod destroys least of what the typical pods of this cluster could use. A
//    node on which nvidia.com/gpu are not whole GPUs is as good as one where nothing is destroyed
//    beyond what is taken, whatever CPU is left there. GpuSharing decides which of several shared
//    ones is taken, and whether a shared one at all;
//  * the same before any typical pods are known: the node with pieces of these kinds that would be
//    most taken with the pod (with several kinds, by their mean);
//  * MIG instances, also beside GPUs: the node where what stays free is worth least; large profiles
//    and whole GPUs weigh most (instances.h);
//  * no GPU: nodes without any, because GPU pods do not need their CPU and memory. They are ahead
//    of every node with GPU by 100; among nodes with GPU, UsableGpu decides. A node with labels
//    that name GPUs counts as one with GPU even if it offers none (its device plugin restarts, or
//    has not started yet), and so does a node that offers other vendors' devices, or NVIDIA's
//    under other resource names.
//
// On a live cluster GPUs are counts: kubelet chooses which GPU of a node a pod gets.
//
// Arguments (GpuPackingArgs); what each alone and all together achieve: bench/replay/README.md,
// "Parts of GpuPacking". Those that are off cost more than they save on most traces.
//   podsWithoutGpuApart: true   pods without GPU onto nodes without
//   packPieces: true            MIG instances by what stays free, and GPUs of an unknown workload
//                               by how full the node would be; false: such pods are not scored
//   keepWholeNodes: 0           milli-GPU: a node on which no GPU is taken yet counts as if the pod
//                               destroyed that much more there
//   conserveCpu: 8              as UsableGpu's: keeps free CPU together where it is scarce
//   modelPrices: true           as UsableGpu's: pods leave models alone that others can run on only
//   cheapTypesFirst: []         GPU types from cheap to expensive: a pod that names no GPU type
//                               goes to the earliest listed type; each step costs as much as
//                               destroying twice what the pod takes; types that are not listed come
//                               last
#pragma once

#include "scheduler/framework/registry.h"

#include <string_view>

namespace plugins {

[[nodiscard]] sched::PluginInstance make_gpu_packing(k8s::yaml::ObjectReader& args);

}  // namespace plugins
