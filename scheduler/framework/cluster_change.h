// A change of the cluster, as the constraints see it and as it wakes waiting pods.
#pragma once

#include "k8s-client/api/controllers.h"
#include "k8s-client/api/device_class.h"
#include "k8s-client/api/namespace.h"
#include "k8s-client/api/node.h"
#include "k8s-client/api/pod.h"
#include "k8s-client/api/storage.h"
#include "scheduler/framework/preparation.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>

namespace sched {

// Kinds of change as bits.
using ChangeMask = std::uint32_t;
// A bound pod appeared, its labels changed, or it is being deleted.
inline constexpr ChangeMask kBoundPodChanged = 1U << 0;
inline constexpr ChangeMask kBoundPodRemoved = 1U << 1;  // a bound pod finished or is gone
inline constexpr ChangeMask kNodeChanged = 1U << 2;      // a node appeared or changed
inline constexpr ChangeMask kNamespaceChanged = 1U << 3;
// A volume claim, a volume, or an object of storage.k8s.io.
inline constexpr ChangeMask kStorageChanged = 1U << 4;
inline constexpr ChangeMask kDeviceClassChanged = 1U << 5;
inline constexpr ChangeMask kPlanChanged = 1U << 6;  // the assumed writes of plans
// A Service, ReplicationController, ReplicaSet or StatefulSet. They are read from a live cluster
// only if a constraint reads such changes.
inline constexpr ChangeMask kSelectorChanged = 1U << 7;
inline constexpr std::size_t kChangeKinds = 8;
inline constexpr ChangeMask kAnyChange = (1U << kChangeKinds) - 1;

// The kind of change when such an object appears, changes or is deleted.
template <typename Object>
inline constexpr ChangeMask kChangeOf = 0;
template <>
inline constexpr ChangeMask kChangeOf<k8s::Node> = kNodeChanged;
template <>
inline constexpr ChangeMask kChangeOf<k8s::Namespace> = kNamespaceChanged;
template <>
inline constexpr ChangeMask kChangeOf<k8s::PersistentVolumeClaim> = kStorageChanged;
template <>
inline constexpr ChangeMask kChangeOf<k8s::PersistentVolume> = kStorageChanged;
template <>
inline constexpr ChangeMask kChangeOf<k8s::StorageClass> = kStorageChanged;
template <>
inline constexpr ChangeMask kChangeOf<k8s::CsiNode> = kStorageChanged;
template <>
inline constexpr ChangeMask kChangeOf<k8s::CsiDriver> = kStorageChanged;
template <>
inline constexpr ChangeMask kChangeOf<k8s::CsiStorageCapacity> = kStorageChanged;
template <>
inline constexpr ChangeMask kChangeOf<k8s::VolumeAttachment> = kStorageChanged;
template <>
inline constexpr ChangeMask kChangeOf<k8s::DeviceClass> = kDeviceClassChanged;
template <>
inline constexpr ChangeMask kChangeOf<k8s::Service> = kSelectorChanged;
template <>
inline constexpr ChangeMask kChangeOf<k8s::ReplicationController> = kSelectorChanged;
template <>
inline constexpr ChangeMask kChangeOf<k8s::ReplicaSet> = kSelectorChanged;
template <>
inline constexpr ChangeMask kChangeOf<k8s::StatefulSet> = kSelectorChanged;

// Valid only during the call.
struct BoundPodUpserted {
  static constexpr ChangeMask kKind = kBoundPodChanged;
  const k8s::Pod& pod;
};
struct BoundPodGone {  // deleted, or finished
  static constexpr ChangeMask kKind = kBoundPodRemoved;
  const std::string& uid;
};
template <typename Object>
struct ObjectUpserted {
  static constexpr ChangeMask kKind = kChangeOf<Object>;
  const Object& object;
};
template <typename Object>
struct ObjectGone {
  static constexpr ChangeMask kKind = kChangeOf<Object>;
  const std::string& name;
  const std::string& namespace_;  // empty if the kind has none
};

// A plan counts on a write that a constraint requires before a bind (preparation.h): other
// constraints treat it as done. / The plan is over: from now on only what the watches show counts.
struct WriteAssumed {
  static constexpr ChangeMask kKind = kPlanChanged;
  const ObjectWrite& write;
};
struct WriteOver {
  static constexpr ChangeMask kKind = kPlanChanged;
  const ObjectWrite& write;
};

using NodeUpserted = ObjectUpserted<k8s::Node>;
using NodeGone = ObjectGone<k8s::Node>;
using NamespaceUpserted = ObjectUpserted<k8s::Namespace>;
using NamespaceGone = ObjectGone<k8s::Namespace>;
using VolumeClaimUpserted = ObjectUpserted<k8s::PersistentVolumeClaim>;
using VolumeClaimGone = ObjectGone<k8s::PersistentVolumeClaim>;
using VolumeUpserted = ObjectUpserted<k8s::PersistentVolume>;
using VolumeGone = ObjectGone<k8s::PersistentVolume>;
using StorageClassUpserted = ObjectUpserted<k8s::StorageClass>;
using StorageClassGone = ObjectGone<k8s::StorageClass>;
using CsiNodeUpserted = ObjectUpserted<k8s::CsiNode>;
using CsiNodeGone = ObjectGone<k8s::CsiNode>;
using CsiDriverUpserted = ObjectUpserted<k8s::CsiDriver>;
using CsiDriverGone = ObjectGone<k8s::CsiDriver>;
using CsiStorageCapacityUpserted = ObjectUpserted<k8s::CsiStorageCapacity>;
using CsiStorageCapacityGone = ObjectGone<k8s::CsiStorageCapacity>;
using VolumeAttachmentUpserted = ObjectUpserted<k8s::VolumeAttachment>;
using VolumeAttachmentGone = ObjectGone<k8s::VolumeAttachment>;
using DeviceClassUpserted = ObjectUpserted<k8s::DeviceClass>;
using DeviceClassGone = ObjectGone<k8s::DeviceClass>;
using ServiceUpserted = ObjectUpserted<k8s::Service>;
using ServiceGone = ObjectGone<k8s::Service>;
using ReplicationControllerUpserted = ObjectUpserted<k8s::ReplicationController>;
using ReplicationControllerGone = ObjectGone<k8s::ReplicationController>;
using ReplicaSetUpserted = ObjectUpserted<k8s::ReplicaSet>;
using ReplicaSetGone = ObjectGone<k8s::ReplicaSet>;
using StatefulSetUpserted = ObjectUpserted<k8s::StatefulSet>;
using StatefulSetGone = ObjectGone<k8s::StatefulSet>;

using ClusterChange =
    std::variant<BoundPodUpserted, BoundPodGone, NodeUpserted, NodeGone, NamespaceUpserted,
                 NamespaceGone, VolumeClaimUpserted, VolumeClaimGone, VolumeUpserted, VolumeGone,
                 StorageClassUpserted, StorageClassGone, CsiNodeUpserted, CsiNodeGone,
                 CsiDriverUpserted, CsiDriverGone, CsiStorageCapacityUpserted,
                 CsiStorageCapacityGone, VolumeAttachmentUpserted, VolumeAttachmentGone,
                 DeviceClassUpserted, DeviceClassGone, ServiceUpserted, ServiceGone,
                 ReplicationControllerUpserted, ReplicationControllerGone, ReplicaSetUpserted,
                 ReplicaSetGone, StatefulSetUpserted, StatefulSetGone, WriteAssumed, WriteOver>;

// One object of a kind; without a name, any object of that kind.
struct ObjectKey {
  ChangeMask kind = 0;  // one bit
  std::string namespace_{};
  std::string name{};
  friend auto operator<=>(const ObjectKey&, const ObjectKey&) = default;
};
template <typename Object>
[[nodiscard]] ObjectKey object_key(std::string name, std::string name_space = {}) {
  return {.kind = kChangeOf<Object>, .namespace_ = std::move(name_space), .name = std::move(name)};
}

// One bit.
[[nodiscard]] inline ChangeMask kind_of(const ClusterChange& change) {
  return std::visit(
      []<typename Change>(const Change&) {
        static_assert(Change::kKind != 0);
        return Change::kKind;
      },
      change);
}

// The object that has changed. For kinds of which no pod waits for a named object (bound pods,
// plans) only the kind.
[[nodiscard]] ObjectKey changed_object(const ClusterChange& change);

}  // namespace sched
