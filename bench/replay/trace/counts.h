// The contents of a trace, in counts.
#pragma once

#include "bench/replay/trace/trace.h"

namespace bench::replay {

// Fills Trace::counts from its nodes and pods; existing entries stay. Kinds of pods with a count of
// zero are left out, "pods" and "nodes" never.
void count(Trace& trace);

}  // namespace bench::replay
