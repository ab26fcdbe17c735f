// What the words of the API mean that stand in texts rather than in a type of their own. Shared by
// the readers of JSON and of protobuf.
#pragma once

#include "k8s-client/api/pod.h"
#include "k8s-client/api/selector.h"

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

// The field of a PersistentVolume's source that has the id of such a disk (InTreeDisk); empty: the
// source is none of those.
[[nodiscard]] std::string_view id_field_of(std::string_view volume_source);

}  // namespace k8s
