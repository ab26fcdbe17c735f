// Whether the GPUs of a trace can be computed with.
//
// Tables are checked field by field; this is for Kubernetes objects, which can hold any quantity
// and any mixture of resources. What the engine would read as something else is refused, not
// replayed.
#pragma once

#include "bench/replay/trace/trace.h"
#include "k8s-client/error.h"

namespace bench::replay {

// An error if the node's number of GPUs is negative, or more than any machine has.
[[nodiscard]] k8s::Result<void> check_gpus(const k8s::Node& node);

// Trace::devices_apart is known. An error names the node or pod, and what was expected:
//
//   nodes  a negative number of GPUs, or more than any machine has; if devices are kept one by one
//          more than sched::gpu::kMaxDevices
//   pods   amounts like those; a share of a GPU that is not below a whole one
[[nodiscard]] k8s::Result<void> check_gpus(const Trace& trace);

}  // namespace bench::replay
