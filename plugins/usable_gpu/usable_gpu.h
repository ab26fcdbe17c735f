// UsableGpu: keeps a node's free GPUs usable for the pods that typically come.
//
// What is left on a node is worth V = Σ W · U (plugins/support/gpu_value.h): for every typical kind
// of pod the free GPU that such pods could use, given that the node's CPU has to feed them, weighed
// by how much that kind counts. A pod goes where it destroys least beyond what it takes:
//
//   key = floor((requested milli − (V_before − V_after) / 2^20) / quantum)
//
// A share of a GPU is tried on every device. Keys are coarse on purpose: among nodes that are about
// as good the tie-break decides, and a stable order packs. The score is the key plus a constant, so
// that it is never below 0; its order is the key's on every node of up to 64 GPUs.
//
// Two things are different from fragmentation gradient descent (Fgd, for replays): a GPU that the
// node's CPU cannot feed is not usable, and kinds do not count by frequency alone. Small ones count
// more (v^-x, v being the GPUs that a pod asks for), since they are what can still use what is
// left; so do those of several GPUs, since nothing else waits as long once pods come and go, and
// those that only a part of the cluster's GPUs may serve.
//
// Arguments (UsableGpuArgs), all with the defaults that held up best when pods come and go:
//
//   coverage: 90          per cent of the pods that the typical kinds cover, most frequent first
//   popularity: linear    p, how frequent a kind is; or sqrt: √p
//   weightExponent: 3     x of v^-x; whole or half
//   quantum: 50           milli-GPU that make a difference
//   multiGpu:
//     keepAll: true       kinds of two and more GPUs are typical however rare they are
//     factor: 30          their weight is factor · p; 0: weighed by v^-x like all others
//   conserveCpu: 0        milli-GPU that each core left on a node counts as lost, where the
//                         workload asks for more CPU per GPU than the nodes have; 0: never
//   scarcity: true        weights are multiplied by the cluster's GPUs / those of allowed models
//
// Where nothing is known of the workload yet, and for MIG instances, it has nothing to say.
// How the defaults were found, and what did not help: bench/replay/RESULTS.md.
#pragma once

#include "plugins/usable_gpu/scoring.h"
#include "scheduler/framework/registry.h"

namespace plugins {

[[nodiscard]] UsableGpuArgs read_usable_gpu_args(k8s::yaml::ObjectReader& args);

[[nodiscard]] sched::PluginInstance make_usable_gpu(k8s::yaml::ObjectReader& args);

}  // namespace plugins
