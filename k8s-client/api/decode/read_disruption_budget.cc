#include "k8s-client/api/decode/objects.h"

#include <algorithm>

namespace k8s::json {
namespace {

// The keys of an object, sorted, each once. A key counts whatever its value: Go writes a time that
// is not set as null.
bool read_keys(JsonValue value, std::vector<std::string>& out) {
  out.clear();
  if (!value.keys([&](std::string_view key) { out.emplace_back(key); })) return false;
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return true;
}

bool read_spec(JsonValue value, PodDisruptionBudget& out) {
  return value.fields([&](std::string_view key, JsonValue field) {
    return key != "selector" || read_optional(field, out.selector);
  });
}

bool read_status(JsonValue value, PodDisruptionBudget& out) {
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == "disruptionsAllowed") return read(field, out.disruptions_allowed);
    if (key == "disruptedPods") return read_keys(field, out.disrupted_pods);
    return true;
  });
}

}  // namespace

bool read(JsonValue value, PodDisruptionBudget& out) {
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == "metadata") return read(field, out.metadata);
    if (key == "spec") return read_spec(field, out);
    if (key == "status") return read_status(field, out);
    return true;
  });
}

}  // namespace k8s::json
