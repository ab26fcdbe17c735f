// What the engine wants done, and why.
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
  std::vector<gpu::DeviceShare> devices;  // where GPUs are kept one by one; else empty
  // The product that its GPUs are charged as (quota/charged_as.h), empty where the node does not
  // say; nullopt: nothing is noted, since no quotas are in force or it asks for no GPU.
  std::optional<std::string> charged_as = {};
  std::int64_t total_score = 0;
  std::vector<PluginScore> scores;
  std::size_t feasible_nodes = 0;
  std::size_t all_nodes = 0;
  int attempts = 0;     // this one included
  Time queued_since{};  // when the pod was first seen pending
  // Where EngineOptions ask for it; nullopt: no other node took the pod, or this one was held for
  // it. No recording has it.
  std::optional<RunnerUp> runner_up = {};
  friend bool operator==(const Bind&, const Bind&) = default;
};

// The pod's node is chosen, and its room assumed; before it is bound these writes have to be done,
// in this order, and none after one that fails. What came of them is an event (Prepared), also
// where there are none. A Bind follows, or NotPrepared.
struct Prepare {
  std::uint64_t plan = 0;  // a number of its own; the event names it
  PodRef pod;
  std::string scheduler_name;
  std::string node;
  std::vector<ObjectWrite> writes;  // empty: it is only waited
  friend bool operator==(const Prepare&, const Prepare&) = default;
};

// The pod is not bound to the node that was chosen for it, since something that it needs there has
// failed, or took too long. Nothing is held for it any more; it is tried again after a back-off.
struct NotPrepared {
  PodRef pod;
  std::string scheduler_name;
  std::int64_t generation = 0;  // metadata.generation of the pod that was judged
  std::string node;
  std::string message;  // why
  friend bool operator==(const NotPrepared&, const NotPrepared&) = default;
};

// Not placed for now. Tell the pod why; nothing else happens until something changes.
struct Unschedulable {
  // The reason of its condition PodScheduled. What the pod's quota refuses is not Unschedulable: a
  // cluster autoscaler that read that would add nodes, which do not help.
  enum class Reason : std::uint8_t { kUnschedulable, kGpuQuotaExceeded };

  PodRef pod;
  std::string scheduler_name;
  std::int64_t generation = 0;  // metadata.generation of the pod that was judged
  // kube-scheduler's FitError text: "0/5 nodes are available: 3 Insufficient nvidia.com/gpu, …".
  std::string message;
  // The numbers behind it, in whole sentences; what kube-scheduler does not say. May be empty.
  std::string details;
  std::vector<std::string> plugins;  // those that refused, sorted
  int attempts = 0;
  Reason reason = Reason::kUnschedulable;
  friend bool operator==(const Unschedulable&, const Unschedulable&) = default;
};

// A pod of another scheduler takes GPUs on a node that a profile owns. Once per pod.
struct ForeignGpuPod {
  PodRef pod;
  std::string scheduler_name;
  std::string node;
  std::int64_t gpus = 0;  // GPUs, replicas and instances that it asks for, a piece each
  friend bool operator==(const ForeignGpuPod&, const ForeignGpuPod&) = default;
};

// Kubernetes' word for it.
[[nodiscard]] constexpr const char* to_string(Unschedulable::Reason reason) {
  return reason == Unschedulable::Reason::kGpuQuotaExceeded ? "GpuQuotaExceeded" : "Unschedulable";
}

// A node lets pods with devices fail before they begin: it gets none of them for a while.
struct NodeBackedOff {
  std::string node;
  Time until{};
  int in_a_row = 1;    // back-offs without a pod that started between them, this one included
  int rejected = 0;    // pods that led to it
  std::string reason;  // of the last of them
  PodRef pod;          // the last of them
  // The node's GPU model, driver and CUDA version, in words: what broken nodes may have in common;
  // empty: its labels do not say.
  std::string platform{};
  friend bool operator==(const NodeBackedOff&, const NodeBackedOff&) = default;
};

// It gets such pods again.
struct NodeReleased {
  std::string node;
  bool proven = false;  // a pod with devices started there; false: the time is over
  friend bool operator==(const NodeReleased&, const NodeReleased&) = default;
};

// A node could be cut differently, and pods that wait for MIG instances would fit there: one
// without GPU pods, or, where none such helps, one on which there are some. Advice alone: nothing
// is changed.
struct MigRepartition {
  std::string scheduler_name;
  std::string node;
  std::string from;          // nvidia.com/mig.config as it is; empty: not labelled
  std::string to;            // as it should be
  std::vector<PodRef> pods;  // that would be placed, in the order of their turn; never empty
  std::string cost;          // what the node gives up, in words
  std::size_t to_go = 0;     // GPU pods on the node, which would have to go before
  friend bool operator==(const MigRepartition&, const MigRepartition&) = default;
};

// A node's GPU labels or amounts contradict themselves, or make no sense (gpu::Inventory). Once per
// node, and again when it is something else.
struct NodeComplaint {
  std::string node;
  std::vector<std::string> complaints;  // in sentences; empty: it is over
  // False: worth knowing, but nothing that is wrong with the node, and never over.
  bool lasts = true;
  friend bool operator==(const NodeComplaint&, const NodeComplaint&) = default;
};

}  // namespace decision

using Decision =
    std::variant<decision::Bind, decision::Prepare, decision::NotPrepared, decision::Unschedulable,
                 decision::ForeignGpuPod, decision::NodeBackedOff, decision::NodeReleased,
                 decision::MigRepartition, decision::NodeComplaint>;

}  // namespace sched
