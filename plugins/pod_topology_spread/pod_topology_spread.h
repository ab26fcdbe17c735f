// PodTopologySpread: how evenly pods must be, or preferably are, spread over domains.
//
// For each constraint with whenUnsatisfiable DoNotSchedule: the node carries the topologyKey, and
// with the pod there its domain has at most maxSkew more of the selected pods of the pod's
// namespace than the domain with the fewest. If there are fewer domains than minDomains, the fewest
// counts as 0. Pods that are being deleted do not count. A domain consists of the nodes that carry
// the keys of all the pod's constraints and that the constraint's nodeAffinityPolicy and
// nodeTaintsPolicy include.
//
// By constraints with ScheduleAnyway, a node is better if its domains have fewer of the selected
// pods; a node that lacks one of their keys scores 0. For the key hostname the pods on the node
// itself count.
//
// A pod without constraints of its own has the profile's default ones, if there are any, for the
// pods that it belongs with (default_selectors.h); if it belongs with none, it has none. With the
// system's defaults, for hosts and zones, a node without a zone is used as well: the missing label
// adds nothing to its score. Such nodes together count as one zone; upstream treats them as the
// zone with an empty name, here that is another zone.
//
// The engine counts, once for all pods with equal constraints. Source: kube-scheduler
// PodTopologySpread, Filter and Score.
#pragma once

#include "k8s-client/api/pod.h"
#include "scheduler/framework/registry.h"

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

[[nodiscard]] sched::PluginInstance make_pod_topology_spread(PodTopologySpreadArgs args);
[[nodiscard]] sched::PluginInstance make_pod_topology_spread(k8s::yaml::ObjectReader& args);

}  // namespace plugins
