#include "k8s-client/api/encode.h"

#include "k8s-client/api/decode/rfc3339.h"
#include "k8s-client/api/encode/json.h"
#include "k8s-client/json_text.h"

#include <nlohmann/json.hpp>

namespace k8s {
namespace {

using json::fill;
using json::Json;

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

Json spec_with(const StringMap& selector) {
  Json spec = Json::object();
  json::set(spec, "selector", selector);
  return spec;
}
Json spec_with(const std::optional<LabelSelector>& selector) {
  Json spec = Json::object();
  if (selector) spec["selector"] = json::to_json(*selector);
  return spec;
}

void fill(Json& object, const Pod& pod) {
  object["spec"] = json::to_json(pod.spec);
  object["status"] = json::to_json(pod.status);
}

void fill(Json& object, const Node& node) {
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
}

void fill(Json& /*object*/, const Namespace& /*ns*/) {}

void fill(Json& object, const Lease& lease) {
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
}

void fill(Json& object, const ConfigMap& map) { json::set(object, "data", map.data); }

void fill(Json& object, const GpuQuota& quota) {
  object["spec"] = json::to_json(quota.spec);
  if (quota.status) object["status"] = json::to_json(*quota.status);
}

void fill(Json& object, const DeviceClass& device_class) {
  Json& spec = object["spec"] = Json::object();
  json::set(spec, "extendedResourceName", device_class.extended_resource_name);
}

void fill(Json& object, const Service& service) { object["spec"] = spec_with(service.selector); }
void fill(Json& object, const ReplicationController& controller) {
  object["spec"] = spec_with(controller.selector);
}
void fill(Json& object, const ReplicaSet& set) { object["spec"] = spec_with(set.selector); }
void fill(Json& object, const StatefulSet& set) { object["spec"] = spec_with(set.selector); }

void fill(Json& object, const PodDisruptionBudget& budget) {
  object["spec"] = spec_with(budget.selector);
  Json& status = object["status"] = json::object_for(2);
  if (budget.disruptions_allowed != 0) status["disruptionsAllowed"] = budget.disruptions_allowed;
  // Since when a pod is disrupted is not kept.
  for (const std::string& pod : budget.disrupted_pods) status["disruptedPods"][pod] = nullptr;
}

}  // namespace

template <typename T>
std::string encode(const T& object) {
  Json whole = json::object_for(5);
  whole["apiVersion"] = T::kKind.api_version;
  whole["kind"] = T::kKind.name;
  whole["metadata"] = json::to_json(object.metadata);
  fill(whole, object);
  return json_text(whole);
}

#define K8S_ENCODABLE(T) template std::string encode<T>(const T&)
K8S_EACH_KIND(K8S_ENCODABLE);
#undef K8S_ENCODABLE

}  // namespace k8s
