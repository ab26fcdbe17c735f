// From which node a pod that asks for MIG instances takes them, if they are counted.
//
// One instance of a profile is as good as another, so a node is chosen by what stays free on it:
// the pod takes CPU and memory that pods on the node's other instances and GPUs would need, and a
// node without GPU pods can still be repartitioned, or be used whole. The best node is the one
// where what stays free is worth least. A piece that is the part f of a GPU is worth f² of one GPU,
// because large profiles and whole GPUs are scarce: a few of them hold as much as many small ones.
// So a small instance is taken beside others that are taken, rather than beside a free large one,
// and from a node with free whole GPUs last. Replicas are worth nothing, because many pods can have
// them.
//
// Figures, also for other weights: bench/mig/README.md, "Counted instances".
#pragma once

#include "scheduler/framework/plugin.h"
#include "scheduler/gpu/devices.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace plugins {

// Points of a GPU that stays free.
inline constexpr std::int64_t kFreeGpu = 16;
// The score of a node on which nothing stays free.
inline constexpr std::int64_t kMostInstanceScore =
    kFreeGpu * static_cast<std::int64_t>(sched::gpu::kMaxDevices);

// 0 … kMostInstanceScore. `asked`: the whole GPUs and instances that the pod asks for.
[[nodiscard]] std::unique_ptr<sched::NodeScore> make_instance_score(
    std::vector<sched::ResourceAmount> asked);

}  // namespace plugins
