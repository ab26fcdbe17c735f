// A change of the cluster, as the constraints see it and as it wakes waiting pods.
#pragma once

#include "scheduler/base/watched_kinds.h"
#include "scheduler/framework/object_key.h"
#include "scheduler/framework/preparation.h"

#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace sched {

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
  static constexpr ChangeMask kKind = kWatched<Object>.change;
  const Object& object;
};
template <typename Object>
struct ObjectGone {
  static constexpr ChangeMask kKind = kWatched<Object>.change;
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

// None of a kind of which constraints are not told.
template <typename Object>
using ChangesOf = std::conditional_t<kWatched<Object>.change == 0, std::tuple<>,
                                     std::tuple<ObjectUpserted<Object>, ObjectGone<Object>>>;
// Only for their types.
template <typename... Changes>
std::variant<BoundPodUpserted, BoundPodGone, Changes..., WriteAssumed, WriteOver> any_change(
    const std::tuple<Changes...>& of_objects);
template <typename... Objects>
auto changes_of_objects(const std::tuple<Watched<Objects>...>& kinds)
    -> decltype(std::tuple_cat(std::declval<ChangesOf<Objects>>()...));

using ClusterChange = decltype(any_change(changes_of_objects(kWatchedKinds)));

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
