// The plugins of benches: those of the scheduler, and those only for replays and studies. The
// program that runs clusters has plugins/registry.h and none of the others.
#pragma once

#include "scheduler/framework/registry.h"

namespace bench {

// In filter order, the scheduler's own in the order of their registry. A profile that names no
// other plugin decides as on a cluster, if GPUs are only counted.
[[nodiscard]] const sched::Registry& registry();

}  // namespace bench
