#include "k8s-client/api/protobuf/objects.h"
#include "k8s-client/api/words.h"

namespace k8s::protobuf {
namespace {

bool read(Value value, PodCondition& out) {
  return value.fields([&](std::uint32_t number, Value field) {
    switch (number) {
      case 1:
        return protobuf::read(field, out.type);
      case 2:
        return protobuf::read(field, out.status);
      case 5:
        return protobuf::read(field, out.reason);
      case 6:
        return protobuf::read(field, out.message);
      case 7:
        return protobuf::read(field, out.observed_generation);
      default:
        return true;
    }
  });
}

// `resources` of a status: its presence has a meaning, even without requests.
bool read_status_resources(Value value, std::optional<ResourceList>& requests) {
  requests.emplace();
  return value.fields([&](std::uint32_t number, Value field) {
    return number != 2 || read_entry(field, *requests);
  });
}

bool read_allocated(Value value, std::optional<ResourceList>& out) {
  if (!out) out.emplace();
  return read_entry(value, *out);
}

bool read(Value value, ContainerStatus& out) {
  return value.fields([&](std::uint32_t number, Value field) {
    if (number == 1) return protobuf::read(field, out.name);
    if (number == 10) return read_allocated(field, out.allocated_resources);
    if (number == 11) return read_status_resources(field, out.requests);
    return true;
  });
}

}  // namespace

bool read(Value value, Pod::Status& out) {
  return value.fields([&](std::uint32_t number, Value field) {
    switch (number) {
      case 1:
        out.phase = pod_phase(field.bytes());
        return true;
      case 2:
        return read(field, out.conditions.emplace_back());
      case 4:
        return read(field, out.reason);
      case 7:
        return read(field, out.start_time);
      case 8:
        return read(field, out.container_statuses.emplace_back());
      case 10:
        return read(field, out.init_container_statuses.emplace_back());
      case 11:
        return read(field, out.nominated_node_name);
      case 19:
        return read_allocated(field, out.allocated_resources);
      case 20:
        return read_status_resources(field, out.resource_requests);
      default:
        return true;
    }
  });
}

bool read(Value value, Pod& out) {
  return value.fields([&](std::uint32_t number, Value field) {
    if (number == 1) return read(field, out.metadata);
    if (number == 2) return read(field, out.spec);
    if (number == 3) return read(field, out.status);
    return true;
  });
}

}  // namespace k8s::protobuf
