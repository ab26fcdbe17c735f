#include "k8s-client/api/decode/rfc3339.h"
#include "k8s-client/api/encode/json.h"

namespace k8s::json {
namespace {

void set_quantity(Json& object, const char* key, const std::optional<Quantity>& value) {
  if (value) object[key] = value->to_string();
}

std::string_view word(GpuQuota::Order order) {
  switch (order) {
    case GpuQuota::Order::kBestEffort:
      return "BestEffort";
    case GpuQuota::Order::kStrict:
      return "Strict";
    case GpuQuota::Order::kUnknown:
      break;
  }
  return "Unknown";
}

Json to_json(const GpuQuota::Line& line) {
  Json object;
  object["gpuType"] = line.gpu_type;
  object["guaranteed"] = line.guaranteed.to_string();
  set_quantity(object, "limit", line.limit);
  set_quantity(object, "lendable", line.lendable);
  return object;
}

void set_use(Json& object, const GpuQuota::Use& use) {
  object["guaranteed"] = use.guaranteed.to_string();
  object["used"] = use.used.to_string();
  object["borrowed"] = use.borrowed.to_string();
  object["lent"] = use.lent.to_string();
  object["pending"] = use.pending.to_string();
}

Json to_json(const Condition& condition) {
  Json object;
  object["type"] = condition.type;
  object["status"] = condition.status;
  if (condition.observed_generation != 0) {
    object["observedGeneration"] = condition.observed_generation;
  }
  if (condition.last_transition_time) {
    object["lastTransitionTime"] = format_rfc3339(*condition.last_transition_time);
  }
  object["reason"] = condition.reason;
  object["message"] = condition.message;
  return object;
}

}  // namespace

Json to_json(const GpuQuota::Spec& spec) {
  Json object = Json::object();
  set(object, "namespaces", spec.namespaces);
  if (spec.namespace_selector) object["namespaceSelector"] = to_json(*spec.namespace_selector);
  set(object, "cohort", spec.cohort);
  set(object, "parent", spec.parent);
  if (spec.weight) object["weight"] = *spec.weight;
  for (const auto& line : spec.quotas) object["quotas"].push_back(to_json(line));
  set_quantity(object, "maxGpusPerPod", spec.max_gpus_per_pod);
  object["order"] = word(spec.order);
  object["whenDeleted"] = spec.when_deleted == GpuQuota::WhenDeleted::kOpen ? "Open" : "Close";
  return object;
}

Json to_json(const GpuQuota::Status& status) {
  Json object;
  object["observedGeneration"] = status.observed_generation;
  set_use(object["total"], status.total);
  // Written even if empty: in a patch this removes the previous value.
  object["quotas"] = Json::array();
  for (const auto& line : status.quotas) {
    Json& entry = object["quotas"].emplace_back();
    entry["gpuType"] = line.gpu_type;
    set_use(entry, line.use);
  }
  object["conditions"] = Json::array();
  for (const auto& condition : status.conditions) {
    object["conditions"].push_back(to_json(condition));
  }
  return object;
}

}  // namespace k8s::json
