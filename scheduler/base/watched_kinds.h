// The kinds of objects that the scheduler watches, and all that differs between them but what the
// engine does with each (engine/intake.h).
//
// From this table follow the events (event.h), what constraints are told (framework/
// cluster_change.h), the watches (live/intake.h), recordings (live/record/), and which files
// `kubectl gpu` and `bench verdicts` can read. What Kubernetes calls a kind is stated by its own
// struct (k8s-client/api/kind.h).
#pragma once

#include "k8s-client/api/kinds.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>

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
// A Service, ReplicationController, ReplicaSet or StatefulSet.
inline constexpr ChangeMask kSelectorChanged = 1U << 7;
inline constexpr std::size_t kChangeKinds = 8;
inline constexpr ChangeMask kAnyChange = (1U << kChangeKinds) - 1;

// Whether the scheduler can do without a kind (live/intake.h). Each allows what those before allow.
enum class Needed : std::uint8_t {
  kAlways,      // nothing is decided until it has been read
  kIfThere,     // the API server may not have it (404)
  kIfReadable,  // the scheduler may have no right to read it (403)
  kIfUsed,      // it is watched only if a profile reads it
};

template <typename Object>
struct Watched {
  // With it the names of events about such an object begin in recordings: "ClaimUpserted".
  std::string_view word;
  // The kind of change when an object appears, changes or is deleted. 0: constraints are not told.
  ChangeMask change = 0;
  Needed needed = Needed::kAlways;
};

inline constexpr std::tuple kWatchedKinds{
    Watched<k8s::Pod>{"Pod"},
    Watched<k8s::Node>{"Node", kNodeChanged},
    Watched<k8s::Namespace>{"Namespace", kNamespaceChanged},
    Watched<k8s::PersistentVolumeClaim>{"Claim", kStorageChanged},
    Watched<k8s::PersistentVolume>{"Volume", kStorageChanged},
    Watched<k8s::StorageClass>{"StorageClass", kStorageChanged, Needed::kIfReadable},
    Watched<k8s::CsiNode>{"CSINode", kStorageChanged, Needed::kIfReadable},
    Watched<k8s::CsiDriver>{"CSIDriver", kStorageChanged, Needed::kIfReadable},
    Watched<k8s::CsiStorageCapacity>{"CSIStorageCapacity", kStorageChanged, Needed::kIfReadable},
    Watched<k8s::VolumeAttachment>{"VolumeAttachment", kStorageChanged, Needed::kIfReadable},
    Watched<k8s::DeviceClass>{"DeviceClass", kDeviceClassChanged, Needed::kIfReadable},
    Watched<k8s::Service>{"Service", kSelectorChanged, Needed::kIfUsed},
    Watched<k8s::ReplicationController>{"ReplicationController", kSelectorChanged, Needed::kIfUsed},
    Watched<k8s::ReplicaSet>{"ReplicaSet", kSelectorChanged, Needed::kIfUsed},
    Watched<k8s::StatefulSet>{"StatefulSet", kSelectorChanged, Needed::kIfUsed},
    Watched<k8s::PodDisruptionBudget>{"DisruptionBudget", 0, Needed::kIfUsed},
    Watched<k8s::GpuQuota>{"Quota", 0, Needed::kIfThere},
};

// The row of one kind.
template <typename Object>
inline constexpr const Watched<Object>& kWatched = std::get<Watched<Object>>(kWatchedKinds);

// Calls function(row) for each kind, in their order.
template <typename Function>
void for_each_watched_kind(const Function& function) {
  std::apply([&](const auto&... kind) { (function(kind), ...); }, kWatchedKinds);
}

}  // namespace sched
