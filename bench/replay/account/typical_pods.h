// The kinds of pods for which free GPU is judged: the target workload M of fragmentation.
//
// The kinds of the unchanged trace (before any inflation) are taken by frequency until they cover
// 95 % of its pods, including those without GPU. Source: Weng et al., "Beware of Fragmentation",
// ATC'23, and its artefact (podPopularityThreshold 95).
#pragma once

#include "bench/replay/trace/trace.h"
#include "scheduler/framework/cluster_context.h"

#include <cstdint>
#include <vector>

namespace bench::replay {

inline constexpr std::uint64_t kCoveredPercent = 95;

// All kinds of pods of the trace, in the order of sched::ClusterContext::pods.
[[nodiscard]] std::vector<sched::TypicalPod> kinds_of(const Trace& trace);

// The first of `kinds` that cover `percent` of the pods.
[[nodiscard]] std::vector<sched::TypicalPod> covering(std::vector<sched::TypicalPod> kinds,
                                                      std::uint64_t percent = kCoveredPercent);

}  // namespace bench::replay
