// The input of the engine. Its whole state comes from these events, in order; the same sequence
// gives the same decisions.
#pragma once

#include "scheduler/base/types.h"
#include "scheduler/base/watched_kinds.h"

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <variant>

namespace sched {

namespace event {

// An object appeared or changed; this is its whole new state, not a difference. The same state may
// come twice.
template <typename Object>
struct Upserted {
  Object object;
};

// An object is gone.
template <typename Object>
struct Deleted {
  std::string name;
  std::string namespace_{};  // empty if the kind has none
};
template <>
struct Deleted<k8s::Pod> {
  PodRef pod;
};

using NodeUpserted = Upserted<k8s::Node>;
using NodeDeleted = Deleted<k8s::Node>;
using PodUpserted = Upserted<k8s::Pod>;
using PodDeleted = Deleted<k8s::Pod>;
using NamespaceUpserted = Upserted<k8s::Namespace>;
using NamespaceDeleted = Deleted<k8s::Namespace>;
using VolumeClaimUpserted = Upserted<k8s::PersistentVolumeClaim>;
using VolumeClaimDeleted = Deleted<k8s::PersistentVolumeClaim>;
using VolumeUpserted = Upserted<k8s::PersistentVolume>;
using VolumeDeleted = Deleted<k8s::PersistentVolume>;
using DisruptionBudgetUpserted = Upserted<k8s::PodDisruptionBudget>;
using DisruptionBudgetDeleted = Deleted<k8s::PodDisruptionBudget>;
using QuotaUpserted = Upserted<k8s::GpuQuota>;
using QuotaDeleted = Deleted<k8s::GpuQuota>;

// The kubelet of the pod's node rejected it: it failed before it started. (The watch of unfinished
// pods shows it as deleted.)
struct PodRejected {
  PodRef pod;
  std::string node;
  std::string reason;  // the pod's: "UnexpectedAdmissionError", "OutOfnvidia.com/gpu"
  Time at{};           // by the kubelet's clock
  // The extended resources that it asked for, by name: the most that one container asks for.
  std::map<std::string, std::int64_t> devices{};
  // Everything that it asked for, by name, in the unit of the resource (resources.h). Empty: not
  // known, as in old recordings.
  std::map<std::string, std::int64_t> requests{};
};

// All watches have delivered the state of the cluster once, and no bind of an earlier process can
// still be carried out. Before it nothing is decided.
struct Synced {};

// A GpuQuota that existed, from the memory of the last process: which namespaces it selects, no
// lines, and since when it is deleted, if it was. If it does not exist now it was deleted. Comes
// before Synced.
struct QuotaRemembered {
  k8s::GpuQuota quota;
};

// Whether this process may read PodDisruptionBudgets: until it comes, they count as readable. Comes
// where profiles preempt, before Synced and whenever it changes.
struct DisruptionBudgetsReadable {
  bool readable = true;
};

// The writes before a pod's bind are done, or one has failed.
struct Prepared {
  std::uint64_t plan = 0;  // decision::Prepare::plan
  std::string failure{};   // empty: all writes are done
};

// The server took the bind. The capacity stays assumed until the watch shows the bound pod.
struct BindSucceeded {
  PodRef pod;
  std::string node;
};

// The bind is known to have failed and can never be carried out (a bind with an unknown outcome is
// not reported until it is known). The assumed capacity is free again.
struct BindFailed {
  enum class Because : std::uint8_t {
    kRefused,  // by the API server: perhaps because of the node
    // The API server was overloaded or silent, or did not let this process bind, which is not the
    // node's fault.
    kUnanswered,
    kOvertaken,  // there is nothing to bind any more: the watch will show why
    kNotSent,    // it waited too long and was not sent
    kStuck,      // the same, because earlier binds of its namespace have no answer
  };
  PodRef pod;
  std::string node;
  std::string message;
  Because because = Because::kRefused;
};

}  // namespace event

// Only for its type.
template <typename... Objects>
std::variant<event::Upserted<Objects>..., event::Deleted<Objects>..., event::PodRejected,
             event::QuotaRemembered, event::Synced, event::DisruptionBudgetsReadable,
             event::Prepared, event::BindSucceeded, event::BindFailed>
any_event(const std::tuple<Watched<Objects>...>& kinds);

using Event = decltype(any_event(kWatchedKinds));

}  // namespace sched
