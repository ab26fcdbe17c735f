// The plugins that benches know: those of the scheduler, and those that serve replays and studies
// alone. The program that runs clusters has plugins/registry.h and none of the others.
#pragma once

#include "scheduler/framework/registry.h"

namespace bench {

// In filter order, the scheduler's own in the order that they have there. A profile that names no
// other plugin decides as on a cluster, wherever GPUs are only counted.
[[nodiscard]] const sched::Registry& registry();

}  // namespace bench
