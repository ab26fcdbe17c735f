#include "k8s-client/api/decode/objects.h"

namespace k8s::json {
namespace {

bool read_selector(JsonValue value, StringMap& out) { return read(value, out); }
bool read_selector(JsonValue value, std::optional<LabelSelector>& out) {
  return read_optional(value, out);
}

// In all these kinds the selector is in the same place, and nothing else is read.
template <typename Object>
bool read_selecting(JsonValue value, Object& out) {
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == "metadata") return read(field, out.metadata);
    if (key != "spec") return true;
    return field.fields([&](std::string_view name, JsonValue inner) {
      return name != "selector" || read_selector(inner, out.selector);
    });
  });
}

}  // namespace

bool read(JsonValue value, Service& out) { return read_selecting(value, out); }
bool read(JsonValue value, ReplicationController& out) { return read_selecting(value, out); }
bool read(JsonValue value, ReplicaSet& out) { return read_selecting(value, out); }
bool read(JsonValue value, StatefulSet& out) { return read_selecting(value, out); }

}  // namespace k8s::json
