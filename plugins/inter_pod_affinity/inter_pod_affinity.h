// InterPodAffinity: required affinity and anti-affinity between pods.
//
// Three demands, in the order in which they are reported for a node:
//   * the pod's own affinity: for each term the node carries its topologyKey, and in its domain
//   runs
//     a pod that all terms select. As long as no such pod runs anywhere, a pod that its own terms
//     select may be the first, on any node that carries the keys;
//   * the pod's own anti-affinity: no pod that a term selects runs in the node's domain;
//   * the anti-affinity of running pods: no pod runs in the node's domain that has a term which
//     selects the pod. Messages name no such pod: it may be one of another namespace.
// A node without a term's key is in no domain of it: where that is not forbidden it is allowed.
//
// Of the nodes that are left those are better where more of what the pod prefers is near, and less
// of what it would rather be away from: a node's raw score is the sum, over the pods in its
// domains, of the weights of the pod's preferred terms that select them, and of their preferred
// terms that select the pod; their required affinity counts as well, with a weight of its own.
//
// What is counted is counted by the engine, once for all pods that ask alike. This keeps which
// terms running pods have, and the labels of namespaces.
// Source: kube-scheduler InterPodAffinity, Filter and Score.
#pragma once

#include "scheduler/framework/registry.h"

#include <cstdint>

namespace plugins {

// kube-scheduler's, with its defaults.
struct InterPodAffinityArgs {
  std::int32_t hard_pod_affinity_weight = 1;  // 0 … 100
  // A pod that prefers nothing itself is not drawn by what others prefer, nor kept away.
  bool ignore_preferred_terms_of_existing_pods = false;
};
[[nodiscard]] sched::PluginInstance make_inter_pod_affinity(const InterPodAffinityArgs& args);
[[nodiscard]] sched::PluginInstance make_inter_pod_affinity(k8s::yaml::ObjectReader& args);

}  // namespace plugins
