#include "k8s-client/api/decode/objects.h"
#include "k8s-client/api/words.h"

namespace k8s::json {
namespace {

bool read(JsonValue value, OwnerReference& out) {
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == "apiVersion") return json::read(field, out.api_version);
    if (key == "kind") return json::read(field, out.kind);
    if (key == "name") return json::read(field, out.name);
    if (key == "uid") return json::read(field, out.uid);
    if (key == "controller") return json::read(field, out.controller);
    return true;
  });
}

bool read_owners(JsonValue value, std::vector<OwnerReference>& out) {
  out.clear();
  return value.items([&](JsonValue item) { return read(item, out.emplace_back()); });
}

}  // namespace

bool read(JsonValue value, ObjectMeta& out) {
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == "name") return read(field, out.name);
    if (key == "namespace") return read(field, out.namespace_);
    if (key == "uid") return read(field, out.uid);
    if (key == "resourceVersion") return read(field, out.resource_version);
    if (key == "generation") return read(field, out.generation);
    if (key == "labels") return read(field, out.labels);
    if (key == "annotations") return read(field, out.annotations);
    if (key == "creationTimestamp") return read_optional(field, out.creation_timestamp);
    if (key == "deletionTimestamp") return read_optional(field, out.deletion_timestamp);
    if (key == "ownerReferences") return read_owners(field, out.owner_references);
    return true;
  });
}

bool read(JsonValue value, ResourceList& out) {
  out.clear();
  return value.fields([&](std::string_view key, JsonValue field) {
    Quantity quantity;
    if (!read(field, quantity)) return false;
    for (auto& [name, known] : out) {
      if (name != key) continue;
      known = quantity;  // the last one counts, as in every JSON map
      return true;
    }
    out.emplace_back(key, quantity);
    return true;
  });
}

bool read(JsonValue value, TaintEffect& out) {
  std::string text;
  if (!read(value, text)) return false;
  out = taint_effect(text);
  return true;
}

bool read(JsonValue value, Namespace& out) {
  return value.fields([&](std::string_view key, JsonValue field) {
    return key != "metadata" || read(field, out.metadata);
  });
}

bool read(JsonValue value, DeviceClass& out) {
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == "metadata") return read(field, out.metadata);
    if (key != "spec") return true;
    return field.fields([&](std::string_view name, JsonValue inner) {
      return name != "extendedResourceName" || read(inner, out.extended_resource_name);
    });
  });
}

}  // namespace k8s::json
