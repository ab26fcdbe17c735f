// Pods that start together (docs/gangs.md) need each other: where pods are drawn one by one, or
// each is placed or refused when it comes, a group would never be complete.
#pragma once

#include "bench/replay/trace/trace.h"

namespace bench::replay {

// Each pod starts by itself. Counts those that were of a group.
void leave_out_groups(Trace& trace);

}  // namespace bench::replay
