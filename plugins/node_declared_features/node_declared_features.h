// NodeDeclaredFeatures: a pod with a spec that needs a feature of kubelet goes to nodes that
// declare it (status.declaredFeatures).
//
// Of the features of Kubernetes 1.36, two are needed by pods that are to be placed; the others are
// needed when a pod is changed:
//
//   RestartAllContainersOnContainerExits  a container's restartPolicyRules have an action
//                                         RestartAllContainers
//   UserNamespacesHostNetworkSupport      hostNetwork, and hostUsers: false
//
// It is a constraint, not a filter, because kube-scheduler asks it last, after its rules across
// nodes, and the first refusal of a node is reported. Source: kube-scheduler NodeDeclaredFeatures;
// k8s.io/component-helpers nodedeclaredfeatures. Without arguments.
#pragma once

#include "scheduler/framework/registry.h"

namespace plugins {

[[nodiscard]] sched::PluginInstance make_node_declared_features(k8s::yaml::ObjectReader& args);

}  // namespace plugins
