// Which node a pod that asks for MIG instances takes them from, where they are counted.
//
// One instance of a profile is as good as another, so what a node is chosen by is what stays free
// on it: the pod takes CPU and memory there that pods on its other instances and GPUs would need,
// and a node on which no GPU pod runs can still be cut otherwise, or be had whole. The best node is
// the one where what stays free is worth least. A piece that is the part f of a GPU is worth f² of
// one: scarce are the large profiles and whole GPUs, of which a few hold as much as many small
// ones. So a small instance is taken beside others that are taken, rather than beside a free large
// one, and from a node with free whole GPUs last. Replicas are worth nothing: many pods can have
// them.
//
// Figures, also of other ways to weigh: bench/mig/README.md, "Counted instances".
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

// 0 … kMostInstanceScore. `asked`: what the pod asks for of whole GPUs and instances.
[[nodiscard]] std::unique_ptr<sched::NodeScore> make_instance_score(
    std::vector<sched::ResourceAmount> asked);

}  // namespace plugins
