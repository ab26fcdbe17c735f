// Nodes that a plan adds, made like existing nodes.
#pragma once

#include "k8s-client/api/node.h"
#include "k8s-client/error.h"
#include "scheduler/engine/engine.h"

#include <map>
#include <string>
#include <vector>

namespace sched::kubectl {

// `wish`: "H100x8=2", two nodes with eight H100 like the first existing one by name; or "NAME=2",
// two nodes like that node; without "=", one. Their names are new-1, new-2, …, without those of
// `nodes` and `so_far`. They have no faults: not cordoned, none of Kubernetes' own taints.
[[nodiscard]] k8s::Result<void> add_nodes(const std::string& wish,
                                          const std::vector<GpuNode>& gpu_nodes,
                                          const std::map<std::string, k8s::Node>& nodes,
                                          std::vector<k8s::Node>& so_far);

}  // namespace sched::kubectl
