// The kinds of pods for which free GPU is judged: the target workload M of fragmentation, of the
// unchanged trace (before any inflation). Source: as scheduler/cluster/fragmentation.h.
#pragma once

#include "bench/replay/trace/trace.h"
#include "scheduler/framework/cluster_context.h"

#include <vector>

namespace bench::replay {

// All kinds of pods of the trace, in the order of sched::ClusterContext::pods.
[[nodiscard]] std::vector<sched::TypicalPod> kinds_of(const Trace& trace);

// The first of `kinds` as sched::covering().
[[nodiscard]] std::vector<sched::TypicalPod> covering(std::vector<sched::TypicalPod> kinds);

}  // namespace bench::replay
