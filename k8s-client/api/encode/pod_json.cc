#include "k8s-client/api/decode/rfc3339.h"
#include "k8s-client/api/encode/json.h"
#include "k8s-client/api/words.h"

namespace k8s::json {
namespace {

Json to_json(const ContainerPort& port) {
  Json object;
  object["containerPort"] = port.host_port;  // required; the port inside is not stored
  object["hostPort"] = port.host_port;
  set(object, "hostIP", port.host_ip);
  set(object, "protocol", port.protocol);
  return object;
}

Json to_json(const Container& container) {
  Json object = object_for(6);
  object["name"] = container.name;
  set(object, "image", container.image);
  if (!container.requests.empty()) {
    object["resources"]["requests"] = json::to_json(container.requests);
  }
  if (!container.limits.empty()) object["resources"]["limits"] = json::to_json(container.limits);
  for (const auto& port : container.ports) object["ports"].push_back(to_json(port));
  if (container.restart_always) object["restartPolicy"] = "Always";
  if (container.restarts_all_containers) {
    object["restartPolicyRules"][0]["action"] = "RestartAllContainers";
  }
  return object;
}

std::string_view word(TolerationOperator op) {
  switch (op) {
    case TolerationOperator::kEqual:
      return "Equal";
    case TolerationOperator::kExists:
      return "Exists";
    case TolerationOperator::kLt:
      return "Lt";
    case TolerationOperator::kGt:
      return "Gt";
    case TolerationOperator::kUnknown:
      break;
  }
  return "Unknown";
}

Json to_json(const Toleration& toleration) {
  Json object = object_for(4);
  set(object, "key", toleration.key);
  object["operator"] = word(toleration.op);
  set(object, "value", toleration.value);
  if (toleration.effect) object["effect"] = json::word(*toleration.effect);
  return object;
}

Json to_json(const Volume& volume) {
  Json object;
  object["name"] = volume.name;
  Json& source = object[volume.source] = Json::object();
  if (volume.kind == Volume::Kind::kPersistentVolumeClaim) source["claimName"] = volume.claim_name;
  if (volume.kind == Volume::Kind::kDisk) {
    source[std::string(disk_source(volume.source)->id)] = volume.disk.id;
    if (volume.disk.read_only) source["readOnly"] = true;
    set(source, "monitors", volume.disk.monitors);
    set(source, "pool", volume.disk.pool);
  }
  return object;
}

Json named(const std::string& name) {
  Json object;
  object["name"] = name;
  return object;
}

std::string_view word(PodPhase phase) {
  switch (phase) {
    case PodPhase::kPending:
      return "Pending";
    case PodPhase::kRunning:
      return "Running";
    case PodPhase::kSucceeded:
      return "Succeeded";
    case PodPhase::kFailed:
      return "Failed";
    case PodPhase::kUnknown:
      break;
  }
  return "Unknown";
}

Json to_json(const PodCondition& condition) {
  Json object = object_for(5);
  object["type"] = condition.type;
  object["status"] = condition.status;
  set(object, "reason", condition.reason);
  set(object, "message", condition.message);
  if (condition.observed_generation != 0) {
    object["observedGeneration"] = condition.observed_generation;
  }
  return object;
}

Json to_json(const ContainerStatus& status) {
  Json object;
  object["name"] = status.name;
  if (status.allocated_resources) {
    object["allocatedResources"] = json::to_json(*status.allocated_resources);
  }
  if (status.requests) object["resources"]["requests"] = json::to_json(*status.requests);
  return object;
}

// Where the pod may run.
void add_placement(Json& object, const Pod::Spec& spec) {
  set(object, "nodeSelector", spec.node_selector);
  if (spec.node_affinity) object["affinity"]["nodeAffinity"] = json::to_json(*spec.node_affinity);
  if (spec.pod_affinity) object["affinity"]["podAffinity"] = json::to_json(*spec.pod_affinity);
  if (spec.pod_anti_affinity) {
    object["affinity"]["podAntiAffinity"] = json::to_json(*spec.pod_anti_affinity);
  }
  for (const auto& toleration : spec.tolerations) {
    object["tolerations"].push_back(to_json(toleration));
  }
  for (const auto& constraint : spec.topology_spread_constraints) {
    object["topologySpreadConstraints"].push_back(json::to_json(constraint));
  }
  for (const auto& gate : spec.scheduling_gates) object["schedulingGates"].push_back(named(gate));
  for (const auto& volume : spec.volumes) object["volumes"].push_back(to_json(volume));
  for (const auto& image : spec.image_volumes) {
    Json& volume = object["volumes"].emplace_back(Json::object());
    volume["image"]["reference"] = image;
  }
  for (const auto& claim : spec.resource_claims) {
    object["resourceClaims"].push_back(named(claim.name));
  }
  if (spec.host_network) object["hostNetwork"] = true;
  if (spec.user_namespace) object["hostUsers"] = false;
}

}  // namespace

Json to_json(const Pod::Spec& spec) {
  Json object = object_for(12);
  set(object, "schedulerName", spec.scheduler_name);
  set(object, "nodeName", spec.node_name);
  if (spec.priority != 0) object["priority"] = spec.priority;
  set(object, "priorityClassName", spec.priority_class_name);
  set(object, "preemptionPolicy", spec.preemption_policy);
  for (const auto& container : spec.init_containers) {
    object["initContainers"].push_back(to_json(container));
  }
  for (const auto& container : spec.containers) object["containers"].push_back(to_json(container));
  if (spec.resource_requests) {
    object["resources"]["requests"] = to_json(*spec.resource_requests);
  }
  set(object, "overhead", spec.overhead);
  add_placement(object, spec);
  return object;
}

Json to_json(const Pod::Status& status) {
  Json object = object_for(6);
  object["phase"] = word(status.phase);
  if (status.resource_requests) {
    object["resources"]["requests"] = to_json(*status.resource_requests);
  }
  if (status.allocated_resources) {
    object["allocatedResources"] = to_json(*status.allocated_resources);
  }
  set(object, "reason", status.reason);
  if (status.start_time) object["startTime"] = format_rfc3339(*status.start_time);
  set(object, "nominatedNodeName", status.nominated_node_name);
  for (const auto& condition : status.conditions) {
    object["conditions"].push_back(to_json(condition));
  }
  for (const auto& container : status.init_container_statuses) {
    object["initContainerStatuses"].push_back(to_json(container));
  }
  for (const auto& container : status.container_statuses) {
    object["containerStatuses"].push_back(to_json(container));
  }
  return object;
}

}  // namespace k8s::json
