// The decisions of the engine: what is to be done, and why.
#pragma once

#include "scheduler/base/event.h"
#include "scheduler/framework/preparation.h"
#include "scheduler/gpu/devices.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace sched {

struct PluginScore {
  std::string plugin;
  std::int64_t score = 0;   // 0 … max_score() of the plugin, after normalisation
  std::int64_t weight = 1;  // the total adds score · weight
  friend bool operator==(const PluginScore&, const PluginScore&) = default;
};

namespace decision {

// The node that would have been taken if the chosen one had not been there.
struct RunnerUp {
  std::string node;
  std::int64_t total_score = 0;  // measured by the same nodes as the chosen one's
  friend bool operator==(const RunnerUp&, const RunnerUp&) = default;
};

// Bind the pod to the node. Its capacity is assumed until the outcome is an event.
struct Bind {
  PodRef pod;
  std::string scheduler_name;
  std::int64_t generation = 0;  // metadata.generation of the pod that was judged
  std::string node;
  std::vector<gpu::DeviceShare>
      devices;  // if the devices of GPUs are chosen one by one; else empty
  // The product that its GPUs are charged as (quota/charged_as.h); empty if the node's labels name
  // none. Nullopt: no note is written, because no quotas are in force or the pod asks for no GPU.
  std::optional<std::string> charged_as = {};
  Time charged_at{};  // with `charged_as`: of two notes the later one has the later time
  std::int64_t total_score = 0;
  std::vector<PluginScore> scores;
  std::size_t feasible_nodes = 0;
  std::size_t all_nodes = 0;
  int attempts = 0;     // this one included
  Time queued_since{};  // when the pod was first seen pending
  // Set only with EngineOptions::names_runner_up. Nullopt, too, if no other node takes the pod, or
  // if this one was held for it. It is not recorded.
  std::optional<RunnerUp> runner_up = {};
  friend bool operator==(const Bind&, const Bind&) = default;
};

// The pod's node is chosen, and its room assumed. Before the bind these writes must be done, in
// this order, and none after a write that fails. Their outcome is an event (Prepared), even if
// there are no writes. A Bind follows, or NotPrepared.
struct Prepare {
  std::uint64_t plan = 0;  // its own number; the event names it
  PodRef pod;
  std::string scheduler_name;
  std::int64_t generation = 0;  // metadata.generation of the pod that was judged
  std::string node;
  std::vector<ObjectWrite> writes;  // empty: the plan only waits
  friend bool operator==(const Prepare&, const Prepare&) = default;
};

// The pod is not bound to its chosen node, because something that it needs there has failed or took
// too long. Nothing is held for it any more; it is tried again after a back-off.
struct NotPrepared {
  PodRef pod;
  std::string scheduler_name;
  std::int64_t generation = 0;  // metadata.generation of the pod that was judged
  std::string node;
  std::string message;  // why
  friend bool operator==(const NotPrepared&, const NotPrepared&) = default;
};

// A pod that is evicted.
struct Victim {
  PodRef pod;
  // It is of no lower priority: it goes because its quota has borrowed GPUs.
  bool reclaimed = false;
  friend bool operator==(const Victim&, const Victim&) = default;
};

// Room is made for the pod on its chosen node: these pods have to leave. Its own room is assumed
// there, so no other pod takes what becomes free. The pod is nominated for the node
// (status.nominatedNodeName) before the first of them is deleted. The outcome of these calls is an
// event (Prepared). When the pods are gone, a Prepare or Bind follows; else NotPrepared.
struct Evict {
  std::uint64_t plan = 0;  // its own number; the event names it
  PodRef pod;
  std::string scheduler_name;
  std::int64_t generation = 0;  // metadata.generation of the pod that was judged
  std::string node;
  // The most important first. Empty: it waits only for pods that are already being deleted.
  std::vector<Victim> victims;
  std::string message;  // as Unschedulable has it, with what is done about it
  std::string details;  // as Unschedulable has it
  int attempts = 0;
  friend bool operator==(const Evict&, const Evict&) = default;
};

// The pod is not placed for now. Report the reason; nothing else happens until something changes.
struct Unschedulable {
  // The reason of its condition PodScheduled. If quota refuses the pod, or pods of its group are
  // missing, it is not "Unschedulable", because a cluster autoscaler would then add nodes, and
  // these would not help.
  enum class Reason : std::uint8_t { kUnschedulable, kGpuQuotaExceeded, kWaitingForPods };

  PodRef pod;
  std::string scheduler_name;
  std::int64_t generation = 0;  // metadata.generation of the pod that was judged
  // kube-scheduler's FitError text: "0/5 nodes are available: 3 Insufficient nvidia.com/gpu, …".
  std::string message;
  // The numbers behind the message, in sentences; kube-scheduler does not report them. May be
  // empty.
  std::string details;
  std::vector<std::string> plugins;  // those that refused, sorted
  int attempts = 0;
  Reason reason = Reason::kUnschedulable;
  friend bool operator==(const Unschedulable&, const Unschedulable&) = default;
};

// A pod of another scheduler takes GPUs on a node that a profile owns. Reported once per pod.
struct ForeignGpuPod {
  PodRef pod;
  std::string scheduler_name;
  std::string node;
  std::int64_t gpus = 0;  // GPUs, replicas and instances that it asks for; each piece counts 1
  friend bool operator==(const ForeignGpuPod&, const ForeignGpuPod&) = default;
};

// A pod waits for a scheduler whose name is one edit away from one that is served. Once per pod.
struct MisnamedScheduler {
  PodRef pod;
  std::string scheduler_name;  // the pod's
  std::string meant;           // that of a profile
  friend bool operator==(const MisnamedScheduler&, const MisnamedScheduler&) = default;
};

// The name that Kubernetes uses for it.
[[nodiscard]] constexpr const char* to_string(Unschedulable::Reason reason) {
  switch (reason) {
    case Unschedulable::Reason::kGpuQuotaExceeded:
      return "GpuQuotaExceeded";
    case Unschedulable::Reason::kWaitingForPods:
      return "WaitingForPods";
    case Unschedulable::Reason::kUnschedulable:
      break;
  }
  return "Unschedulable";
}

// Pods with devices fail on the node before they start: it gets no such pods for a while.
struct NodeBackedOff {
  std::string node;
  Time until{};
  int in_a_row = 1;    // back-offs without a pod that started between them, this one included
  int rejected = 0;    // pods that led to it
  std::string reason;  // of the last of them
  PodRef pod;          // the last of them
  // The node's GPU model, driver and CUDA version as text: broken nodes may have these in common.
  // Empty: its labels do not name them.
  std::string platform{};
  friend bool operator==(const NodeBackedOff&, const NodeBackedOff&) = default;
};

// The node gets pods with devices again.
struct NodeReleased {
  std::string node;
  bool proven = false;  // a pod with devices started there; false: the back-off is over
  friend bool operator==(const NodeReleased&, const NodeReleased&) = default;
};

// A node could be repartitioned, and waiting pods that ask for MIG instances would then fit
// there. It is a node without GPU pods; only if no such node helps, one that has some. This is
// advice: nothing is changed.
struct MigRepartition {
  std::string scheduler_name;
  std::string node;
  std::string from;  // nvidia.com/mig.config now; empty: not labelled
  std::string to;    // the advised value
  std::vector<PodRef>
      pods;               // the pods that would be placed, in the order of their turns; never empty
  std::string cost;       // what the node gives up, as text
  std::size_t to_go = 0;  // GPU pods on the node, which would have to end before
  friend bool operator==(const MigRepartition&, const MigRepartition&) = default;
};

// A node's GPU labels or amounts contradict each other or are impossible (gpu::Inventory). Reported
// once per node, and again when the complaints change.
struct NodeComplaint {
  std::string node;
  std::vector<std::string> complaints;  // in sentences; empty: nothing is wrong any more
  // False: a note, not a fault of the node; it never ends.
  bool lasts = true;
  friend bool operator==(const NodeComplaint&, const NodeComplaint&) = default;
};

}  // namespace decision

using Decision =
    std::variant<decision::Bind, decision::Prepare, decision::Evict, decision::NotPrepared,
                 decision::Unschedulable, decision::ForeignGpuPod, decision::NodeBackedOff,
                 decision::NodeReleased, decision::MigRepartition, decision::NodeComplaint,
                 decision::MisnamedScheduler>;

}  // namespace sched
