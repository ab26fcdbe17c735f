// The arguments of PodTopologySpread (pod_topology_spread.cc).
#pragma once

#include "k8s-client/api/pod.h"
#include "k8s-client/yaml/object_reader.h"

#include <vector>

namespace plugins {

// kube-scheduler's PodTopologySpreadArgs.
struct PodTopologySpreadArgs {
  std::vector<k8s::TopologySpreadConstraint> default_constraints;  // without selectors
  // These are the system's: a node need not have the labels of all of them.
  bool system_defaults = false;
};

// Reads defaultingType (System, also if absent, or List) and defaultConstraints.
[[nodiscard]] PodTopologySpreadArgs read_pod_topology_spread_args(k8s::yaml::ObjectReader& args);
// The constraints of defaultingType System.
[[nodiscard]] std::vector<k8s::TopologySpreadConstraint> system_default_constraints();

}  // namespace plugins
