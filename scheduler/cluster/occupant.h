// What takes room on a node: a pod that is bound or assumed there, or a reservation for a pod.
//
// A node lists its occupants by importance, as kube-scheduler's preemption does: higher priority
// first, then the pod that has run longer. A trial that takes occupants away names them.
#pragma once

#include "scheduler/base/types.h"
#include "scheduler/cluster/claim.h"
#include "scheduler/cluster/pod_classes.h"

#include <cstdint>
#include <string>

namespace sched {

struct Occupant {
  enum class Kind : std::uint8_t {
    kPod,
    kReservation,  // for a waiting pod: counts against every other pod
  };
  // No kubelet has started the pod: it counts as the youngest. Source: kube-scheduler
  // util.GetPodStartTime, which uses the present time then.
  static constexpr Time kNotStarted = Time::max();

  Claim claim;
  PodClassRef pod_class{};           // none: rules across nodes do not count it
  const std::string* uid = nullptr;  // of the pod; points into its record or its hold
  std::uint64_t owner = 0;           // text_hash() of its controller's uid; 0: it has none
  Time since = kNotStarted;          // status.startTime
  std::int32_t priority = 0;
  Kind kind = Kind::kPod;
  bool terminating = false;
  bool ours = false;  // names one of the profiles of this scheduler
  // The pod had no node when it was put here: this process chose the node. A profile's name in the
  // pod does not show that: a user who creates the pod may name its node as well.
  bool chosen_here = false;
};

// The pod's claim and identity, without `uid`.
[[nodiscard]] Occupant occupant_of(const k8s::Pod& pod, Claim claim, PodClassRef pod_class,
                                   bool ours);

// Whether rules across nodes count both alike.
[[nodiscard]] inline bool counts_alike(const Occupant& a, const Occupant& b) {
  return a.pod_class == b.pod_class && a.terminating == b.terminating;
}

// Whether `a` is more important. Ties are possible: the uids, which could break them, mean nothing.
// Source: kube-scheduler util.MoreImportantPod.
[[nodiscard]] inline bool more_important(const Occupant& a, const Occupant& b) {
  return a.priority != b.priority ? a.priority > b.priority : a.since < b.since;
}

}  // namespace sched
