// Whether the CPU of the nodes with GPUs is the scarcer of the two, by what is in use on them.
#pragma once

#include "scheduler/cluster/nodes.h"

namespace sched {

// True while at least 90 % of the CPU of the nodes with whole GPUs is taken, and of the CPU at
// least 0.97 times as great a part as of their GPUs. If it was so before, 87 % and 0.94 suffice.
// Only what is on nodes counts, so no waiting pod changes it. O(slots), and the devices of each.
//
// Source: the openb traces (bench/replay/RESULTS.md, "What helped and what did not"): packing by
// CPU saves waiting where these parts are 1.03 and 0.99 to 1, and costs it where they are 0.93.
[[nodiscard]] bool cpu_is_scarce(const Nodes& nodes, bool before);

}  // namespace sched
