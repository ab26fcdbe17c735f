// What takes room on a node: a pod that is bound or assumed there, or a reservation for one.
//
// A node lists its occupants by importance, as kube-scheduler's preemption does: higher priority
// first, then the pod that runs longer. Who asks what would be if some were taken away names them.
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
    kReservation,  // for a pod that waits: counts against every pod but that one
  };
  // No kubelet has begun to run the pod: it counts as the youngest.
  // Source: kube-scheduler util.GetPodStartTime, which takes the present time then.
  static constexpr Time kNotStarted = Time::max();

  Claim claim;
  PodClassRef pod_class{};           // none: rules across nodes do not count it
  const std::string* uid = nullptr;  // of the pod; borrowed from its record or its hold
  std::uint64_t owner = 0;           // text_hash() of the uid of its controller; 0: it has none
  Time since = kNotStarted;          // status.startTime
  std::int32_t priority = 0;
  Kind kind = Kind::kPod;
  bool terminating = false;
  bool ours = false;  // names one of the profiles of this scheduler
  // The pod had no node of its own when it was put here: this process chose the node. That a pod
  // names one of our profiles does not say so: whoever creates it may name its node as well.
  bool chosen_here = false;
};

// The pod's claim with its identity, but for `uid`.
[[nodiscard]] Occupant occupant_of(const k8s::Pod& pod, Claim claim, PodClassRef pod_class,
                                   bool ours);

// Whether rules across nodes count both alike.
[[nodiscard]] inline bool counts_alike(const Occupant& a, const Occupant& b) {
  return a.pod_class == b.pod_class && a.terminating == b.terminating;
}

// Whether `a` is the more important: an order without ties would need the uids, which say nothing.
// Source: kube-scheduler util.MoreImportantPod.
[[nodiscard]] inline bool more_important(const Occupant& a, const Occupant& b) {
  return a.priority != b.priority ? a.priority > b.priority : a.since < b.since;
}

}  // namespace sched
