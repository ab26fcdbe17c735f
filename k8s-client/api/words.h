// The meaning of words of the API that are plain texts there. Shared by the readers of JSON and of
// protobuf, and by the writer of JSON.
#pragma once

#include "k8s-client/api/gpu_quota.h"
#include "k8s-client/api/pod.h"
#include "k8s-client/api/selector.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace k8s {

// Of SelectorOperator, TolerationOperator, TaintEffect, PodPhase, GpuQuota::Order and
// GpuQuota::WhenDeleted. A text that is none of the words has a value, too; an absent one has that
// of the struct's member.
template <typename Enum>
[[nodiscard]] Enum from_word(std::string_view text);
template <typename Enum>
[[nodiscard]] std::string_view word_of(Enum value);

// Volume sources, by their field's name in corev1.VolumeSource.
//
// Whether every node can mount it, as far as scheduling is concerned: no plugin of kube-scheduler
// reads such a source. The driver makes an in-line `csi` volume on the pod's node, whichever that
// is.
[[nodiscard]] bool mounts_anywhere(std::string_view volume_source);
// The kind of a source that ties a pod to nodes; kUnknown for an unknown source, because it is
// better that a pod waits than that it is on a wrong node.
[[nodiscard]] Volume::Kind volume_kind(std::string_view volume_source);

// A source that is one disk: which of its fields are read. kube-scheduler compares such disks by
// these fields, or counts them.
struct DiskSource {
  std::string_view name;  // the source's field in corev1.VolumeSource
  std::string_view id;    // the field that identifies a disk, and its number in protobuf
  std::uint32_t id_number = 0;
  std::uint32_t read_only_number = 0;  // of the field readOnly; 0: it has none
  // Whether a CSI driver has taken over disks of this kind, so that they count as its volumes.
  bool has_driver = false;
};
// kube-scheduler 1.36 compares the disks of GCE, EBS, iSCSI and RBD (plugins/volumerestrictions)
// and counts those with a driver (plugins/nodevolumelimits/utils.go). csi-translation-lib makes a
// volume handle from these fields (k8s.io/csi-translation-lib/plugins).
inline constexpr std::array<DiskSource, 7> kDiskSources = {{
    {"awsElasticBlockStore", "volumeID", 1, 4, true},
    {"azureDisk", "diskURI", 2, 5, true},
    {"cinder", "volumeID", 1, 3, true},
    {"gcePersistentDisk", "pdName", 1, 4, true},
    {"iscsi", "iqn", 2, 6, false},
    {"portworxVolume", "volumeID", 1, 3, true},
    {"rbd", "image", 2, 8, false},
}};
// nullptr: the source is not a disk.
[[nodiscard]] const DiskSource* disk_source(std::string_view volume_source);

}  // namespace k8s
