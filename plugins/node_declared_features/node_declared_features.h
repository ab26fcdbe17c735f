// NodeDeclaredFeatures: a pod that needs a feature of kubelet's, by what its spec asks for, goes to
// nodes that declare it (status.declaredFeatures).
//
// Of the features of Kubernetes 1.36 two are needed by pods that are to be placed; the others are
// needed when a pod is changed:
//
//   RestartAllContainersOnContainerExits  a container's restartPolicyRules have an action
//                                         RestartAllContainers
//   UserNamespacesHostNetworkSupport      hostNetwork, and hostUsers: false
//
// It is a rule of the pod rather than a filter, since kube-scheduler asks it last, behind its rules
// across nodes: of a node that several refuse the first is told.
// Source: kube-scheduler NodeDeclaredFeatures; k8s.io/component-helpers nodedeclaredfeatures.
// Without arguments.
#pragma once

#include "scheduler/framework/registry.h"

namespace plugins {

[[nodiscard]] sched::PluginInstance make_node_declared_features(k8s::yaml::ObjectReader& args);

}  // namespace plugins
