#include "k8s-client/api/decode/objects.h"
#include "k8s-client/api/words.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

bool has_duplicates(const ResourceList& list) {
  std::vector<std::string_view> names;
  names.reserve(list.size());
  for (const auto& [name, amount] : list) names.push_back(name);
  std::sort(names.begin(), names.end());
  return std::adjacent_find(names.begin(), names.end()) != names.end();
}

// If entries have one name the last one counts, as in every JSON map; at the place of the first.
void keep_last(ResourceList& list) {
  if (!has_duplicates(list)) return;
  std::map<std::string, Quantity> last;
  for (const auto& [name, amount] : list) last[name] = amount;
  ResourceList kept;
  for (const auto& [name, amount] : list) {
    if (auto entry = last.extract(name)) kept.emplace_back(std::move(entry.key()), entry.mapped());
  }
  list = std::move(kept);
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
  const bool ok = value.fields([&](std::string_view key, JsonValue field) {
    auto& [name, quantity] = out.emplace_back(key, Quantity());
    return read(field, quantity);
  });
  keep_last(out);
  return ok;
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
