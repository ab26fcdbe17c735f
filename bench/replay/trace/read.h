// Reads a trace, whatever its format.
//
// The format is recognised by the content: a CSV header names it (openb: `sn,cpu_milli,…` and
// `name,cpu_milli,…,num_gpu,…`; ours: bench/replay/README.md), all else is YAML or JSON of
// Kubernetes objects (a List or documents; of `kubectl get nodes,pods -A -o json` both files may be
// the same one). A bad row is an error, "FILE:LINE:COLUMN: what is wrong, what was expected"; no
// row is skipped.
#pragma once

#include "bench/replay/trace/trace.h"
#include "k8s-client/error.h"

#include <string>

namespace bench::replay {

struct TraceFiles {
  std::string nodes;
  std::string pods;
};

// The name of the trace is that of the pods' file without folder and extension. GPUs are kept apart
// (Trace::devices_apart) if any pod asks for a share of a GPU.
[[nodiscard]] k8s::Result<Trace> read_trace(const TraceFiles& files);

}  // namespace bench::replay
