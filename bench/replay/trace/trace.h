// A trace: the nodes of a cluster and the pods that came to it, as Kubernetes objects.
//
// Three formats are read into this (read.h): openb's CSV, this project's plain CSV, and Kubernetes
// objects as JSON or YAML. A policy is judged by the engine's own view of these objects, so later
// code does not depend on the format.
#pragma once

#include "k8s-client/api/node.h"
#include "k8s-client/api/pod.h"

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bench::replay {

// Virtual time since the trace began.
using Moment = std::chrono::milliseconds;

struct TracePod {
  k8s::Pod pod;  // namespace, name and uid are set; no node unless `bound_to_start_with`
  std::optional<Moment> created;
  std::optional<Moment> deleted;     // ≥ created
  bool bound_to_start_with = false;  // a pod of a snapshot that already has its node
};

struct Trace {
  std::string name;  // "openb_pod_list_default"; names the published curves
  std::vector<k8s::Node> nodes;
  std::vector<TracePod> pods;
  // Whether the trace is about single GPUs (shares of one, MIG placements): then the engine keeps
  // them one by one; else they are counted, as on a live cluster.
  bool devices_apart = false;
  // What was read, for messages: "pods" → 8152, "pods without GPU" → 1088, "nodes" → 1213, …
  std::map<std::string, std::size_t> counts;
};

}  // namespace bench::replay
