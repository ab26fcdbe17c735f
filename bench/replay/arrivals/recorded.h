// Workloads without any draw: the unchanged trace, and all of it at once.
#pragma once

#include "bench/replay/arrivals/arrivals.h"

namespace bench::replay {

// Each pod at its creation, until its deletion; a pod that was deleted at its creation lives for a
// millisecond. An error if a pod has no creation time.
[[nodiscard]] k8s::Result<Workload> as_recorded(const Trace& trace);

// All at the start, in the order of their creation; those of equal time, and at the end those of
// unknown time, in the trace's order.
[[nodiscard]] Workload as_backlog(const Trace& trace);

}  // namespace bench::replay
