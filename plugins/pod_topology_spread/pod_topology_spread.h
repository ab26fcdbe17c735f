// PodTopologySpread: how evenly pods are to be spread over domains.
//
// For each constraint with whenUnsatisfiable DoNotSchedule: the node carries the topologyKey, and
// with the pod there its domain has at most maxSkew more of the selected pods of the pod's
// namespace than the domain that has fewest. Where there are fewer domains than minDomains, the
// fewest is 0. Pods that are being deleted do not count. A domain is one of nodes that carry the
// keys of all the pod's constraints and that the constraint's nodeAffinityPolicy and
// nodeTaintsPolicy let count.
//
// By constraints with ScheduleAnyway those nodes are better in whose domains fewer of the selected
// pods are; a node that lacks one of their keys scores 0. Of the hostname it is what is on the node
// itself that counts.
//
// A pod without constraints of its own has the default ones of its profile, if there are any, for
// the pods that it belongs with (default_selectors.h); where it belongs with none it has none. By
// the system's, which ask for hosts and zones, a node without a zone is spread to as well: what it
// lacks adds nothing to its score. Such a node counts as in a zone of its own with the others of
// them; upstream takes a zone that is named with an empty text for the same, here it is another.
//
// What is counted is counted by the engine, once for all pods that ask alike.
// Source: kube-scheduler PodTopologySpread, Filter and Score.
#pragma once

#include "k8s-client/api/pod.h"
#include "scheduler/framework/registry.h"

#include <vector>

namespace plugins {

// kube-scheduler's PodTopologySpreadArgs.
struct PodTopologySpreadArgs {
  std::vector<k8s::TopologySpreadConstraint> default_constraints;  // without selectors
  // They are the system's: a node need not have the labels of all of them.
  bool system_defaults = false;
};

// defaultingType System, which is meant where none is given, or List, and defaultConstraints.
[[nodiscard]] PodTopologySpreadArgs read_pod_topology_spread_args(k8s::yaml::ObjectReader& args);
// Those of defaultingType System.
[[nodiscard]] std::vector<k8s::TopologySpreadConstraint> system_default_constraints();

[[nodiscard]] sched::PluginInstance make_pod_topology_spread(PodTopologySpreadArgs args);
[[nodiscard]] sched::PluginInstance make_pod_topology_spread(k8s::yaml::ObjectReader& args);

}  // namespace plugins
