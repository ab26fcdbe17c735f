// NodeResourcesBalancedAllocation: the more evenly a node's resources are taken, the better.
//
// The imbalance is the standard deviation of the taken shares of the listed resources, 1 at most
// each. A node scores by how much better or worse the pod makes it: 75 if it does not change, 50 …
// 100. Resources that the node does not have do not count, nor extended ones that the pod does not
// ask for; a pod that asks for none of them is not scored.
//
// Source: kube-scheduler 1.36 NodeResourcesBalancedAllocation; until 1.35 what counted was the
// imbalance with the pod alone. Arguments: `resources`, as upstream; cpu and memory by default.
#pragma once

#include "scheduler/framework/registry.h"

#include <string>
#include <vector>

namespace plugins {

[[nodiscard]] sched::PluginInstance make_node_resources_balanced_allocation(
    std::vector<std::string> resources);
[[nodiscard]] sched::PluginInstance make_node_resources_balanced_allocation(
    k8s::yaml::ObjectReader& args);

}  // namespace plugins
