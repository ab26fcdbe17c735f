// Fgd: fragmentation gradient descent, with the published integer score.
//
// Source: Weng et al., "Beware of Fragmentation: Scheduling GPU-Sharing Workloads with
// Fragmentation Gradient Descent", USENIX ATC'23, and its artefact,
// hkust-adsl/kubernetes-scheduler-simulator@8f3d641.
//
// The typical pods M are the kinds of pods that together make up 95 % of the workload (§3.2; CPU
// pods included), p_m how frequent each is. The fragmentation F_n(M) of a node is the free GPU that
// a pod drawn from M is expected to have no use for. A pod goes where it adds least to it:
//
//   score = int(100 · sigmoid((F_before − F_after) / 1,000 milli-GPU))
//
// A share of a GPU is tried on every device, the first of the best is taken. A pod that requests
// nothing scores 100 everywhere. Where nothing is known of the workload yet, and for MIG instances,
// Fgd has nothing to say.
//
// All in integers: with p_m = count_m / covered, covered · (F_before − F_after) is one (see
// plugins/support/gpu_value.h, sigmoid_score.h). Ties matter as much as the score (measured:
// bench/replay/README.md): the published results are those of `tieBreak: shuffled-nodes`.
// Without arguments.
#pragma once

#include "scheduler/framework/registry.h"

namespace bench {

[[nodiscard]] sched::PluginInstance make_fgd(k8s::yaml::ObjectReader& args);

}  // namespace bench
