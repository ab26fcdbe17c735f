// NodeAffinity: nodeSelector and the node affinity of pods, and of the profile itself.
//
// The argument `addedAffinity` applies to every pod of the profile, before the pod's own affinity.
// By its required terms a scheduler owns a part of the nodes (owns()), so that it does not compete
// with another scheduler for them. Argument names are kube-scheduler's NodeAffinityArgs.
#pragma once

#include "k8s-client/api/pod.h"
#include "scheduler/framework/registry.h"

#include <optional>

namespace plugins {

struct NodeAffinityArgs {
  std::optional<k8s::NodeAffinity> added_affinity;
  friend bool operator==(const NodeAffinityArgs&, const NodeAffinityArgs&) = default;
};

// Errors go into the reader: wrong types, and terms that no API server accepts.
[[nodiscard]] NodeAffinityArgs read_node_affinity_args(k8s::yaml::ObjectReader& args);

[[nodiscard]] sched::PluginInstance make_node_affinity(NodeAffinityArgs args);
[[nodiscard]] sched::PluginInstance make_node_affinity(k8s::yaml::ObjectReader& args);

}  // namespace plugins
