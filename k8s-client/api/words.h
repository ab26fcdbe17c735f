// What the words of the API mean that stand in texts rather than in a type of their own. Shared by
// the readers of JSON and of protobuf.
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
// Whether every node can mount it, as far as scheduling goes: no plugin of kube-scheduler looks at
// those. An in-line `csi` volume is made by the driver on whatever node the pod comes to.
[[nodiscard]] bool mounts_anywhere(std::string_view volume_source);
// Of one that ties a pod to nodes, or is not known here: better a pod that waits than a wrong node.
[[nodiscard]] Volume::Kind volume_kind(std::string_view volume_source);

// A source that is one disk: which of its fields are read. kube-scheduler compares such disks by
// these, or counts them.
struct DiskSource {
  std::string_view name;  // the source's field in corev1.VolumeSource
  std::string_view id;    // the field that tells one disk from another, and its number in protobuf
  std::uint32_t id_number = 0;
  std::uint32_t read_only_number = 0;  // of the field readOnly; 0: it has none
  // Whether a CSI driver has taken over disks of this kind, so that they count as its volumes.
  bool has_driver = false;
};
// nullptr: the source is no disk.
[[nodiscard]] const DiskSource* disk_source(std::string_view volume_source);

}  // namespace k8s
