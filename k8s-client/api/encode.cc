#include "k8s-client/api/encode.h"

#include "k8s-client/api/decode/rfc3339.h"
#include "k8s-client/api/encode/json.h"
#include "k8s-client/json_text.h"

#include <nlohmann/json.hpp>

namespace k8s {
namespace {

using json::Json;

Json head(std::string_view api_version, std::string_view kind, const ObjectMeta& metadata) {
  Json object = json::object_for(5);
  object["apiVersion"] = api_version;
  object["kind"] = kind;
  object["metadata"] = json::to_json(metadata);
  return object;
}

constexpr std::string_view kStorage = "storage.k8s.io/v1";

// A kind; fill() sets its other fields.
template <typename Object>
std::string with_head(std::string_view api_version, std::string_view kind, const Object& object) {
  Json whole = head(api_version, kind, object.metadata);
  json::fill(whole, object);
  return json_text(whole);
}

Json to_json(const Taint& taint) {
  Json object;
  object["key"] = taint.key;
  json::set(object, "value", taint.value);
  object["effect"] = json::word(taint.effect);
  return object;
}

Json to_json(const NodeCondition& condition) {
  Json object = json::object_for(3);
  object["type"] = condition.type;
  object["status"] = condition.status;
  json::set(object, "reason", condition.reason);
  return object;
}

constexpr std::string_view kApps = "apps/v1";

// A kind with only a selector.
template <typename Object>
std::string selecting(std::string_view api_version, std::string_view kind, const Object& object) {
  Json whole = head(api_version, kind, object.metadata);
  Json& spec = whole["spec"] = Json::object();
  if constexpr (requires { *object.selector; }) {
    if (object.selector) spec["selector"] = json::to_json(*object.selector);
  } else {
    json::set(spec, "selector", object.selector);
  }
  return json_text(whole);
}

}  // namespace

std::string encode(const Pod& pod) {
  Json object = head("v1", "Pod", pod.metadata);
  object["spec"] = json::to_json(pod.spec);
  object["status"] = json::to_json(pod.status);
  return json_text(object);
}

std::string encode(const Node& node) {
  Json object = head("v1", "Node", node.metadata);
  Json& spec = object["spec"] = Json::object();
  if (node.spec.unschedulable) spec["unschedulable"] = true;
  for (const auto& taint : node.spec.taints) spec["taints"].push_back(to_json(taint));
  Json& status = object["status"] = json::object_for(5);
  json::set(status, "capacity", node.status.capacity);
  json::set(status, "allocatable", node.status.allocatable);
  for (const auto& condition : node.status.conditions) {
    status["conditions"].push_back(to_json(condition));
  }
  for (const auto& image : node.status.images) {
    Json& object_of_image = status["images"].emplace_back(Json::object());
    json::set(object_of_image, "names", image.names);
    object_of_image["sizeBytes"] = image.size_bytes;
  }
  json::set(status, "declaredFeatures", node.status.declared_features);
  return json_text(object);
}

std::string encode(const Namespace& ns) { return json_text(head("v1", "Namespace", ns.metadata)); }

std::string encode(const PersistentVolumeClaim& claim) {
  return with_head("v1", "PersistentVolumeClaim", claim);
}

std::string encode(const PersistentVolume& volume) {
  return with_head("v1", "PersistentVolume", volume);
}

std::string encode(const StorageClass& storage_class) {
  return with_head(kStorage, "StorageClass", storage_class);
}
std::string encode(const CsiNode& node) { return with_head(kStorage, "CSINode", node); }
std::string encode(const CsiDriver& driver) { return with_head(kStorage, "CSIDriver", driver); }
std::string encode(const CsiStorageCapacity& capacity) {
  return with_head(kStorage, "CSIStorageCapacity", capacity);
}
std::string encode(const VolumeAttachment& attachment) {
  return with_head(kStorage, "VolumeAttachment", attachment);
}

std::string encode(const Lease& lease) {
  Json object = head("coordination.k8s.io/v1", "Lease", lease.metadata);
  Json& spec = object["spec"] = Json::object();
  // Written even if there is no holder, because that may be the change.
  spec["holderIdentity"] = lease.spec.holder_identity;
  if (lease.spec.lease_duration_seconds != 0) {
    spec["leaseDurationSeconds"] = lease.spec.lease_duration_seconds;
  }
  if (lease.spec.acquire_time) {
    spec["acquireTime"] = json::format_micro_time(*lease.spec.acquire_time);
  }
  if (lease.spec.renew_time) spec["renewTime"] = json::format_micro_time(*lease.spec.renew_time);
  spec["leaseTransitions"] = lease.spec.lease_transitions;
  return json_text(object);
}

std::string encode(const ConfigMap& map) {
  Json object = head("v1", "ConfigMap", map.metadata);
  json::set(object, "data", map.data);
  return object.dump();
}

std::string encode(const GpuQuota& quota) {
  Json object = head("gpu-scheduler.io/v1alpha1", "GpuQuota", quota.metadata);
  object["spec"] = json::to_json(quota.spec);
  if (quota.status) object["status"] = json::to_json(*quota.status);
  return json_text(object);
}

std::string encode(const DeviceClass& device_class) {
  Json object = head("resource.k8s.io/v1", "DeviceClass", device_class.metadata);
  Json& spec = object["spec"] = Json::object();
  json::set(spec, "extendedResourceName", device_class.extended_resource_name);
  return json_text(object);
}

std::string encode(const Service& service) { return selecting("v1", "Service", service); }
std::string encode(const ReplicationController& controller) {
  return selecting("v1", "ReplicationController", controller);
}
std::string encode(const ReplicaSet& set) { return selecting(kApps, "ReplicaSet", set); }
std::string encode(const StatefulSet& set) { return selecting(kApps, "StatefulSet", set); }

std::string encode(const PodDisruptionBudget& budget) {
  Json object = head("policy/v1", "PodDisruptionBudget", budget.metadata);
  Json& spec = object["spec"] = Json::object();
  if (budget.selector) spec["selector"] = json::to_json(*budget.selector);
  Json& status = object["status"] = json::object_for(2);
  if (budget.disruptions_allowed != 0) status["disruptionsAllowed"] = budget.disruptions_allowed;
  // Since when a pod is disrupted is not kept.
  for (const std::string& pod : budget.disrupted_pods) status["disruptedPods"][pod] = nullptr;
  return json_text(object);
}

}  // namespace k8s
