// Whether a trace is about single GPUs, and what its objects need then.
#pragma once

#include "bench/replay/trace/trace.h"

namespace bench::replay {

// Sets Trace::devices_apart: if a pod asks for a share of a GPU in thousandths, or for a MIG
// instance that no node offers as a resource, so that a whole GPU must be partitioned for it. Then
// thousandths are added to the nodes and pods that have only whole GPUs, like the objects of a live
// cluster: sums are correct only in thousandths. And nodes offer the MIG instances that their GPUs
// can be partitioned into.
void keep_devices_apart_if_asked(Trace& trace);

}  // namespace bench::replay
