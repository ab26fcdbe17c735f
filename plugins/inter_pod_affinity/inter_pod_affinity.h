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
// What is counted is counted by the engine, once for all pods that ask alike. This keeps which
// terms running pods have, and the labels of namespaces. Source: kube-scheduler InterPodAffinity,
// Filter. Preferred terms are not counted yet. Without arguments.
#pragma once

#include "scheduler/framework/registry.h"

namespace plugins {

[[nodiscard]] sched::PluginInstance make_inter_pod_affinity(k8s::yaml::ObjectReader& args);

}  // namespace plugins
