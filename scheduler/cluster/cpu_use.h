// Whether the nodes with GPUs run out of CPU about as soon as they run out of GPUs, by what is in
// use on them.
#pragma once

#include "scheduler/cluster/nodes.h"

namespace sched {

// With c the part of the CPU that is taken, and g that of the GPUs: true if c ≥ 0.90 and c ≥ 0.97 ·
// g. If the last answer, `before`, was true, the limits are 0.88 and 0.95. All nodes with whole
// GPUs that are not cordoned count. What is reserved for waiting pods counts as taken, and no node
// counts as more than full. O(slots + devices).
//
// Source: the openb traces (bench/replay/RESULTS.md, "What helped and what did not"): keeping CPU
// together saves waiting where c / g is 0.98 to 1.04, and costs it where that is 0.90 to 0.94.
[[nodiscard]] bool cpu_is_scarce(const Nodes& nodes, bool before);

}  // namespace sched
