// Nodes that a plan adds, made like nodes that are there.
#pragma once

#include "k8s-client/api/node.h"
#include "k8s-client/error.h"
#include "scheduler/engine/engine.h"

#include <map>
#include <string>
#include <vector>

namespace sched::kubectl {

// `wish`: "H100x8=2", two nodes with eight H100 like the first by name that is there; or "NAME=2",
// two like that node; without "=", one. They are called new-1, new-2, … behind those in `so_far`,
// and nothing is wrong with them: not cordoned, no taint of Kubernetes' own.
[[nodiscard]] k8s::Result<void> add_nodes(const std::string& wish,
                                          const std::vector<GpuNode>& gpu_nodes,
                                          const std::map<std::string, k8s::Node>& nodes,
                                          std::vector<k8s::Node>& so_far);

}  // namespace sched::kubectl
