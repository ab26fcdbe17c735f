// What a trace holds, for people.
#pragma once

#include "bench/replay/trace/trace.h"

namespace bench::replay {

// Fills Trace::counts from its nodes and pods; what is in there already stays. Kinds of pods that
// there are none of are left out, "pods" and "nodes" never.
void count(Trace& trace);

}  // namespace bench::replay
