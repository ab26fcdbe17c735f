// Reads a trace, whatever its format.
//
// The format is recognised by the content: a CSV header identifies it (openb: `sn,cpu_milli,…` and
// `name,cpu_milli,…,num_gpu,…`; this project's tables: bench/replay/README.md), everything else is
// YAML or JSON of Kubernetes objects (a List or documents; with `kubectl get nodes,pods -A -o json`
// both files may be the same one). A bad row is an error, "FILE:LINE:COLUMN: what is wrong, what
// was expected" (for Kubernetes objects "FILE:LINE: …", the object's); no row is skipped. Files may
// be gzipped.
#pragma once

#include "bench/replay/trace/trace.h"
#include "k8s-client/error.h"

#include <string>

namespace bench::replay {

struct TraceFiles {
  std::string nodes;
  std::string pods;
};

// The name of the trace is that of the pods' file without folder and extension. devices_apart.h
// defines when its GPUs are kept apart. Other errors: no node, no pod.
[[nodiscard]] k8s::Result<Trace> read_trace(const TraceFiles& files);

}  // namespace bench::replay
