// The meaning of words of the API that are plain texts there. Shared by the readers of JSON and of
// protobuf.
#pragma once

#include "k8s-client/api/pod.h"
#include "k8s-client/api/selector.h"

#include <cstdint>
#include <string_view>

namespace k8s {

[[nodiscard]] SelectorOperator selector_operator(std::string_view word);
// Empty: Equal.
[[nodiscard]] TolerationOperator toleration_operator(std::string_view word);
[[nodiscard]] TaintEffect taint_effect(std::string_view word);
// Empty: Pending.
[[nodiscard]] PodPhase pod_phase(std::string_view word);

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
// nullptr: the source is not a disk.
[[nodiscard]] const DiskSource* disk_source(std::string_view volume_source);

}  // namespace k8s
