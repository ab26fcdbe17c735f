#include "k8s-client/api/decode/objects.h"

namespace k8s::json {
namespace {

bool read_taints(JsonValue value, std::vector<Taint>& out) {
  out.clear();
  return value.items([&](JsonValue item) {
    Taint& taint = out.emplace_back();
    return item.fields([&](std::string_view key, JsonValue field) {
      if (key == "key") return read(field, taint.key);
      if (key == "value") return read(field, taint.value);
      if (key == "effect") return read(field, taint.effect);
      return true;
    });
  });
}

bool read_conditions(JsonValue value, std::vector<NodeCondition>& out) {
  out.clear();
  return value.items([&](JsonValue item) {
    NodeCondition& condition = out.emplace_back();
    return item.fields([&](std::string_view key, JsonValue field) {
      if (key == "type") return read(field, condition.type);
      if (key == "status") return read(field, condition.status);
      if (key == "reason") return read(field, condition.reason);
      return true;
    });
  });
}

bool read_images(JsonValue value, std::vector<ContainerImage>& out) {
  out.clear();
  return value.items([&](JsonValue item) {
    ContainerImage& image = out.emplace_back();
    return item.fields([&](std::string_view key, JsonValue field) {
      if (key == "names") return read_list(field, image.names);
      if (key == "sizeBytes") return read(field, image.size_bytes);
      return true;
    });
  });
}

bool read_spec(JsonValue value, Node::Spec& out) {
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == "unschedulable") return read(field, out.unschedulable);
    if (key == "taints") return read_taints(field, out.taints);
    return true;
  });
}

bool read_status(JsonValue value, Node::Status& out) {
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == "capacity") return read(field, out.capacity);
    if (key == "allocatable") return read(field, out.allocatable);
    if (key == "conditions") return read_conditions(field, out.conditions);
    if (key == "images") return read_images(field, out.images);
    if (key == "declaredFeatures") return read_list(field, out.declared_features);
    return true;
  });
}

}  // namespace

bool read(JsonValue value, Node& out) {
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == "metadata") return read(field, out.metadata);
    if (key == "spec") return read_spec(field, out.spec);
    if (key == "status") return read_status(field, out.status);
    return true;
  });
}

}  // namespace k8s::json
