// InterPodAffinity: required affinity and anti-affinity between pods.
//
// Three demands, in the order in which they are reported for a node:
//   * the pod's own affinity: for each term the node carries its topologyKey, and in its domain
//     runs a pod that all terms select. While no such pod runs anywhere, a pod that its own terms
//     select may be the first, on any node that carries the keys;
//   * the pod's own anti-affinity: no pod that a term selects runs in the node's domain;
//   * the anti-affinity of running pods: in the node's domain runs no pod with a term that selects
//     the pod. Messages name no such pod, because it may be one of another namespace.
// A node without a term's key is in no domain of the term: there the term forbids nothing.
//
// Among the nodes that are left, a node is better if more pods that the pod prefers are near, and
// fewer that it prefers to avoid. A node's raw score is a sum over the pods in its domains: of the
// weights of the pod's preferred terms that select them, and of their preferred terms that select
// the pod. Their required affinity counts as well, with a weight of its own.
//
// The engine counts, once for all pods with equal terms. The plugin stores which terms running pods
// have, and the labels of namespaces. Source: kube-scheduler InterPodAffinity, Filter and Score.
#pragma once

#include "scheduler/framework/registry.h"

#include <cstdint>

namespace plugins {

// kube-scheduler's arguments, with its defaults.
struct InterPodAffinityArgs {
  std::int32_t hard_pod_affinity_weight = 1;  // 0 … 100
  // The preferred terms of other pods do not affect a pod without preferred terms.
  bool ignore_preferred_terms_of_existing_pods = false;
};
[[nodiscard]] sched::PluginInstance make_inter_pod_affinity(const InterPodAffinityArgs& args);
[[nodiscard]] sched::PluginInstance make_inter_pod_affinity(k8s::yaml::ObjectReader& args);

}  // namespace plugins
