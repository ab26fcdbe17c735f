#include "k8s-client/api/decode/objects.h"
#include "k8s-client/api/words.h"

namespace k8s::json {
namespace {

bool read_phase(JsonValue value, PodPhase& out) {
  std::string text;
  if (!read(value, text)) return false;
  out = pod_phase(text);
  return true;
}

bool read_conditions(JsonValue value, std::vector<PodCondition>& out) {
  out.clear();
  out.reserve(value.item_count());
  return value.items([&](JsonValue item) {
    PodCondition& condition = out.emplace_back();
    return item.fields([&](std::string_view key, JsonValue field) {
      if (key == "type") return read(field, condition.type);
      if (key == "status") return read(field, condition.status);
      if (key == "reason") return read(field, condition.reason);
      if (key == "message") return read(field, condition.message);
      if (key == "observedGeneration") return read(field, condition.observed_generation);
      return true;
    });
  });
}

// `resources` of a status: its presence has a meaning, even without requests.
bool read_status_resources(JsonValue value, std::optional<ResourceList>& requests) {
  requests.emplace();
  return value.fields([&](std::string_view key, JsonValue field) {
    return key != "requests" || read(field, *requests);
  });
}

bool read_container_status(JsonValue value, ContainerStatus& out) {
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == "name") return read(field, out.name);
    if (key == "allocatedResources") return read_optional(field, out.allocated_resources);
    if (key == "resources") return read_status_resources(field, out.requests);
    return true;
  });
}

bool read_container_statuses(JsonValue value, std::vector<ContainerStatus>& out) {
  out.clear();
  out.reserve(value.item_count());
  return value.items(
      [&](JsonValue item) { return read_container_status(item, out.emplace_back()); });
}

}  // namespace

bool read(JsonValue value, Pod::Status& out) {
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == "phase") return read_phase(field, out.phase);
    if (key == "reason") return read(field, out.reason);
    if (key == "startTime") return read_optional(field, out.start_time);
    if (key == "nominatedNodeName") return read(field, out.nominated_node_name);
    if (key == "conditions") return read_conditions(field, out.conditions);
    if (key == "resources") return read_status_resources(field, out.resource_requests);
    if (key == "allocatedResources") return read_optional(field, out.allocated_resources);
    if (key == "initContainerStatuses") {
      return read_container_statuses(field, out.init_container_statuses);
    }
    if (key == "containerStatuses") {
      return read_container_statuses(field, out.container_statuses);
    }
    return true;
  });
}

bool read(JsonValue value, Pod& out) {
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == "metadata") return read(field, out.metadata);
    if (key == "spec") return read(field, out.spec);
    if (key == "status") return read(field, out.status);
    return true;
  });
}

}  // namespace k8s::json
