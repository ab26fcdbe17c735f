// The fields of a Pod.
#pragma once

#include "k8s-client/api/fields/affinity.h"
#include "k8s-client/api/fields/description.h"
#include "k8s-client/api/fields/meta.h"
#include "k8s-client/api/pod.h"

#include <utility>

namespace k8s {

void fields(Of<ContainerPort> auto& port, auto&& field) {
  field("containerPort", port.host_port, OnlyWritten{});  // required; the port inside is not stored
  field({"hostPort", 2}, port.host_port, Always{});
  field({"hostIP", 5}, port.host_ip);
  field({"protocol", 4}, port.protocol);
}

// A boolean: whether one rule of a list restarts all containers.
struct RestartRules {};

void fields(Of<Container> auto& container, auto&& field) {
  const auto add_port = [&](auto port, bool was_read) {
    if (was_read && port.host_port != 0) container.ports.push_back(std::move(port));
  };
  field({"name", 1}, container.name, Always{});
  field({"image", 2}, container.image);
  field({"resources", 8}, IfAny{[&](auto&& resources) {
          resources({"requests", 2}, container.requests);
          resources({"limits", 1}, container.limits);
        }});
  field({"ports", 6}, container.ports, Sifted{add_port});
  field({"restartPolicy", 24}, container.restart_always, Word{"Always"});
  field({"restartPolicyRules", 25}, container.restarts_all_containers, RestartRules{});
}

void fields(Of<Toleration> auto& toleration, auto&& field) {
  field({"key", 1}, toleration.key);
  field({"operator", 2}, toleration.op);
  field({"value", 3}, toleration.value);
  field({"effect", 4}, toleration.effect, UnlessEmpty{});
}

void fields(Of<PodResourceClaim> auto& claim, auto&& field) {
  field({"name", 1}, claim.name, Always{});
}

// The volumes of a pod's spec: which of their fields are read depends on their source (words.h).
struct Volumes {};

void fields(Of<Pod::Spec> auto& spec, auto&& field) {
  field({"schedulerName", 19}, spec.scheduler_name);
  field({"nodeName", 10}, spec.node_name);
  field({"priority", 25}, spec.priority);
  field({"priorityClassName", 24}, spec.priority_class_name);
  field({"preemptionPolicy", 31}, spec.preemption_policy);
  field({"initContainers", 20}, spec.init_containers);
  field({"containers", 2}, spec.containers);
  field({"resources", 40}, IfAny{[&](auto&& resources) {
          resources({"requests", 2}, spec.resource_requests);
          resources({"limits", 1}, spec.resource_limits);
        }});
  field({"overhead", 32}, spec.overhead);
  field({"nodeSelector", 7}, spec.node_selector);
  field({"affinity", 18}, IfAny{[&](auto&& affinity) {
          affinity({"nodeAffinity", 1}, spec.node_affinity, Last{});
          affinity({"podAffinity", 2}, spec.pod_affinity, Last{});
          affinity({"podAntiAffinity", 3}, spec.pod_anti_affinity, Last{});
        }});
  field({"tolerations", 22}, spec.tolerations);
  field({"topologySpreadConstraints", 33}, spec.topology_spread_constraints);
  field({"schedulingGates", 38}, spec.scheduling_gates, Names{});
  field({"volumes", 1}, spec, Volumes{});
  field({"resourceClaims", 39}, spec.resource_claims);
  field({"hostNetwork", 11}, spec.host_network);
  field({"hostUsers", 37}, spec.user_namespace, Negated{});
}

void fields(Of<PodCondition> auto& condition, auto&& field) {
  field({"type", 1}, condition.type, Always{});
  field({"status", 2}, condition.status, Always{});
  field({"reason", 5}, condition.reason);
  field({"message", 6}, condition.message);
  field({"observedGeneration", 7}, condition.observed_generation);
}

// `resources` of a status: its presence has a meaning, even without requests.
void status_resources(const FieldName& name, auto& requests, auto&& field) {
  const auto visit = [&](auto&& resources) { resources({"requests", 2}, requests); };
  field(name, IfAny{visit}, Present{requests});
}

void fields(Of<ContainerStatus> auto& status, auto&& field) {
  field({"name", 1}, status.name, Always{});
  field({"allocatedResources", 10}, status.allocated_resources);
  status_resources({"resources", 11}, status.requests, field);
}

void fields(Of<Pod::Status> auto& status, auto&& field) {
  field({"phase", 1}, status.phase);
  status_resources({"resources", 20}, status.resource_requests, field);
  field({"allocatedResources", 19}, status.allocated_resources);
  field({"reason", 4}, status.reason);
  field({"startTime", 7}, status.start_time);
  field({"nominatedNodeName", 11}, status.nominated_node_name);
  field({"conditions", 2}, status.conditions);
  field({"initContainerStatuses", 10}, status.init_container_statuses);
  field({"containerStatuses", 8}, status.container_statuses);
}

void fields(Of<Pod> auto& pod, auto&& field) {
  field({"metadata", 1}, pod.metadata);
  field({"spec", 2}, pod.spec);
  field({"status", 3}, pod.status);
}

}  // namespace k8s
