// The arguments of NodeResourcesFit (node_resources_fit.cc).
#pragma once

#include "k8s-client/yaml/object_reader.h"
#include "plugins/node_resources_fit/utilization.h"

#include <cstdint>
#include <string>
#include <vector>

namespace plugins {

struct NodeResourcesFitArgs {
  enum class Strategy : std::uint8_t { kLeastAllocated, kMostAllocated, kByUtilization };
  struct Weighted {
    std::string name;
    std::int64_t weight = 1;
    friend bool operator==(const Weighted&, const Weighted&) = default;
  };

  Strategy strategy = Strategy::kLeastAllocated;
  // Of kByUtilization, kube-scheduler's RequestedToCapacityRatio: its function.
  std::vector<UtilizationPoint> shape;
  std::vector<Weighted> resources = {{"cpu", 1}, {"memory", 1}};
  // Extended resources that the filter ignores, by name and by the domain before the '/'.
  std::vector<std::string> ignored_resources;
  std::vector<std::string> ignored_resource_groups;

  friend bool operator==(const NodeResourcesFitArgs&, const NodeResourcesFitArgs&) = default;
};

[[nodiscard]] NodeResourcesFitArgs read_node_resources_fit_args(k8s::yaml::ObjectReader& args);

}  // namespace plugins
