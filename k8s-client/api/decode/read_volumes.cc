#include "k8s-client/api/decode/read_fields.h"

namespace k8s::json {
namespace {

bool read_image_volume(JsonValue value, std::vector<std::string>& out) {
  std::string& reference = out.emplace_back();
  return value.fields([&](std::string_view key, JsonValue field) {
    return key != "reference" || read(field, reference);
  });
}

bool read_disk(JsonValue value, Volume& out) {
  const DiskSource& source = *disk_source(out.source);
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == source.id) return read(field, out.disk.id);
    if (key == "readOnly") return read(field, out.disk.read_only);
    if (source.name != "rbd") return true;
    if (key == "monitors") return read(field, out.disk.monitors);
    if (key == "pool") return read(field, out.disk.pool);
    return true;
  });
}

// Reads one volume; `node_free` if nothing of it ties the pod to nodes.
bool read_volume(JsonValue value, Volume& out, bool& node_free, std::vector<std::string>& images) {
  node_free = true;
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == "name") return read(field, out.name);
    if (key == "image") return read_image_volume(field, images);
    if (mounts_anywhere(key)) return true;
    node_free = false;
    // The API server takes one source alone; of several the last one counts.
    out = {.name = std::move(out.name),
           .kind = volume_kind(key),
           .claim_name = {},
           .source = std::string(key)};
    if (out.kind == Volume::Kind::kDisk) return read_disk(field, out);
    if (out.kind != Volume::Kind::kPersistentVolumeClaim) return true;
    return field.fields([&](std::string_view name, JsonValue inner) {
      return name != "claimName" || read(inner, out.claim_name);
    });
  });
}

}  // namespace

bool read(JsonValue value, Pod::Spec& out, Volumes /*how*/) {
  out.volumes.clear();
  out.image_volumes.clear();
  return value.items([&](JsonValue item) {
    Volume volume;
    bool node_free = true;
    if (!read_volume(item, volume, node_free, out.image_volumes)) return false;
    if (!node_free) out.volumes.push_back(std::move(volume));
    return true;
  });
}

}  // namespace k8s::json
