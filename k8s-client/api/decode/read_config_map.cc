#include "k8s-client/api/decode/objects.h"

namespace k8s::json {

bool read(JsonValue value, ConfigMap& out) {
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == "metadata") return read(field, out.metadata);
    if (key == "data") return read(field, out.data);
    return true;
  });
}

}  // namespace k8s::json
