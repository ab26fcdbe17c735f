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
// What is counted is counted by the engine, once for all pods that ask alike.
// Source: kube-scheduler PodTopologySpread, Filter and Score. There are no default constraints.
// Without arguments.
#pragma once

#include "scheduler/framework/registry.h"

namespace plugins {

[[nodiscard]] sched::PluginInstance make_pod_topology_spread(k8s::yaml::ObjectReader& args);

}  // namespace plugins
