#include "k8s-client/api/protobuf/read_fields.h"

#include <array>
#include <utility>

namespace k8s::protobuf {
namespace {

// corev1.VolumeSource: the names of its fields by their numbers.
constexpr std::array<std::string_view, 31> kSources = {"",
                                                       "hostPath",
                                                       "emptyDir",
                                                       "gcePersistentDisk",
                                                       "awsElasticBlockStore",
                                                       "gitRepo",
                                                       "secret",
                                                       "nfs",
                                                       "iscsi",
                                                       "glusterfs",
                                                       "persistentVolumeClaim",
                                                       "rbd",
                                                       "flexVolume",
                                                       "cinder",
                                                       "cephfs",
                                                       "flocker",
                                                       "downwardAPI",
                                                       "fc",
                                                       "azureFile",
                                                       "configMap",
                                                       "vsphereVolume",
                                                       "quobyte",
                                                       "azureDisk",
                                                       "photonPersistentDisk",
                                                       "portworxVolume",
                                                       "scaleIO",
                                                       "projected",
                                                       "storageos",
                                                       "csi",
                                                       "ephemeral",
                                                       "image"};

// For a source that is newer than this table.
constexpr std::string_view kUnknownSource = "unknown";

bool read_image(const Value& value, std::vector<std::string>& out) {
  std::string& reference = out.emplace_back();
  return value.fields([&](std::uint32_t number, const Value& field) {
    return number != 1 || read(field, reference);
  });
}

bool read_disk(const Value& value, Volume& out) {
  const DiskSource& source = *disk_source(out.source);
  const bool is_rbd = source.name == "rbd";
  return value.fields([&](std::uint32_t number, const Value& field) {
    if (number == source.id_number) return read(field, out.disk.id);
    if (number == source.read_only_number) return read(field, out.disk.read_only);
    if (is_rbd && number == 1) return read(field, out.disk.monitors.emplace_back());
    if (is_rbd && number == 4) return read(field, out.disk.pool);
    return true;
  });
}

bool read_source(const Value& value, Volume& out, std::vector<std::string>& images) {
  return value.fields([&](std::uint32_t number, const Value& field) {
    const std::string_view source = number < kSources.size() ? kSources[number] : kUnknownSource;
    if (source == "image") return read_image(field, images);
    if (mounts_anywhere(source)) return true;
    // As from JSON: of several sources the last one counts.
    out = {.name = std::move(out.name),
           .kind = volume_kind(source),
           .claim_name = {},
           .source = std::string(source)};
    if (out.kind == Volume::Kind::kDisk) return read_disk(field, out);
    if (out.kind != Volume::Kind::kPersistentVolumeClaim) return true;
    return field.fields([&](std::uint32_t inner_number, const Value& inner) {
      return inner_number != 1 || read(inner, out.claim_name);
    });
  });
}

}  // namespace

// `out` gets the volume unless every node can mount it.
bool read(const Value& value, Pod::Spec& out, Volumes /*how*/) {
  Volume volume;
  const bool ok = value.fields([&](std::uint32_t number, const Value& field) {
    if (number == 1) return read(field, volume.name);
    if (number == 2) return read_source(field, volume, out.image_volumes);
    return true;
  });
  if (!volume.source.empty()) out.volumes.push_back(std::move(volume));
  return ok;
}

}  // namespace k8s::protobuf
