// NodeResourcesFit: a pod fits on a node with enough free resources. The fuller node is better, or
// the emptier one, as configured.
//
// Filter: every resource that the pod takes, and its place among the node's pods. All shortages are
// reported. If a request is more than the node's whole capacity, the verdict is unresolvable: no
// eviction helps there. Score: by `scoringStrategy` over the listed resources; cpu and memory count
// with defaults for containers that name none. Argument names are kube-scheduler's
// NodeResourcesFitArgs; its third strategy, RequestedToCapacityRatio, is not built and is refused.
#pragma once

#include "scheduler/framework/registry.h"

#include <cstdint>
#include <string>
#include <vector>

namespace plugins {

struct NodeResourcesFitArgs {
  enum class Strategy : std::uint8_t { kLeastAllocated, kMostAllocated };
  struct Weighted {
    std::string name;
    std::int64_t weight = 1;
    friend bool operator==(const Weighted&, const Weighted&) = default;
  };

  Strategy strategy = Strategy::kLeastAllocated;
  std::vector<Weighted> resources = {{"cpu", 1}, {"memory", 1}};
  // Extended resources that the filter ignores, by name and by the domain before the '/'.
  std::vector<std::string> ignored_resources;
  std::vector<std::string> ignored_resource_groups;

  friend bool operator==(const NodeResourcesFitArgs&, const NodeResourcesFitArgs&) = default;
};

[[nodiscard]] NodeResourcesFitArgs read_node_resources_fit_args(k8s::yaml::ObjectReader& args);

[[nodiscard]] sched::PluginInstance make_node_resources_fit(NodeResourcesFitArgs args);
[[nodiscard]] sched::PluginInstance make_node_resources_fit(k8s::yaml::ObjectReader& args);

}  // namespace plugins
