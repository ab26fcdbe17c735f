// What the engine wants done, and why.
#pragma once

#include "scheduler/engine/event.h"
#include "scheduler/gpu/devices.h"

#include <cstdint>
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

// Bind the pod to the node. Its capacity is assumed until the outcome is an event.
struct Bind {
  PodRef pod;
  std::string scheduler_name;
  std::int64_t generation = 0;  // metadata.generation of the pod that was judged
  std::string node;
  std::vector<gpu::DeviceShare> devices;  // where GPUs are kept one by one; else empty
  std::int64_t total_score = 0;
  std::vector<PluginScore> scores;
  std::size_t feasible_nodes = 0;
  std::size_t all_nodes = 0;
  int attempts = 0;     // this one included
  Time queued_since{};  // when the pod was first seen pending
  friend bool operator==(const Bind&, const Bind&) = default;
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
  std::int64_t gpus = 0;
  friend bool operator==(const ForeignGpuPod&, const ForeignGpuPod&) = default;
};

// Kubernetes' word for it.
[[nodiscard]] constexpr const char* to_string(Unschedulable::Reason reason) {
  return reason == Unschedulable::Reason::kGpuQuotaExceeded ? "GpuQuotaExceeded" : "Unschedulable";
}

}  // namespace decision

using Decision = std::variant<decision::Bind, decision::Unschedulable, decision::ForeignGpuPod>;

}  // namespace sched
