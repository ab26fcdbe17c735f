// Whether a trace speaks of single GPUs, and what its objects need if it does.
#pragma once

#include "bench/replay/trace/trace.h"

namespace bench::replay {

// Sets Trace::devices_apart: if a pod asks for a share of a GPU in thousandths, or for a MIG
// instance that no node offers as a resource, so that it is to be cut out of a whole GPU. Then
// thousandths are added to the nodes and to the pods that know whole GPUs only, as a live cluster's
// objects do: sums are right in thousandths alone. And nodes offer the MIG instances that their
// GPUs can be cut into.
void keep_devices_apart_if_asked(Trace& trace);

}  // namespace bench::replay
