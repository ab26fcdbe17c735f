#include "k8s-client/api/decode/objects.h"

namespace k8s::json {
namespace {

bool read_claim_spec(JsonValue value, PersistentVolumeClaim& out) {
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == "volumeName") return read(field, out.volume_name);
    if (key == "storageClassName") return read(field, out.storage_class);
    if (key == "accessModes") return read_list(field, out.access_modes);
    return true;
  });
}

bool read_volume_spec(JsonValue value, PersistentVolume& out) {
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == "accessModes") return read_list(field, out.access_modes);
    if (key == "nodeAffinity") {
      return field.fields([&](std::string_view name, JsonValue inner) {
        return name != "required" || read_optional(inner, out.node_affinity);
      });
    }
    if (key == "csi") {
      return field.fields([&](std::string_view name, JsonValue inner) {
        return name != "driver" || read(inner, out.csi_driver);
      });
    }
    return true;
  });
}

}  // namespace

bool read(JsonValue value, PersistentVolumeClaim& out) {
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == "metadata") return read(field, out.metadata);
    if (key == "spec") return read_claim_spec(field, out);
    if (key == "status") {
      return field.fields([&](std::string_view name, JsonValue inner) {
        return name != "phase" || read(inner, out.phase);
      });
    }
    return true;
  });
}

bool read(JsonValue value, PersistentVolume& out) {
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == "metadata") return read(field, out.metadata);
    if (key == "spec") return read_volume_spec(field, out);
    return true;
  });
}

}  // namespace k8s::json
