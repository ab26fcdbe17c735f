// What is wrong with a node's GPUs: read from its Node object, except `backoff` and `awaited`.
//
//   labels       nvidia.com/mig.config.state: NVIDIA's mig-manager is repartitioning the GPUs, or
//                could not. Meanwhile the device plugin is paused, and what the node offers
//                is outdated. Running pods keep their GPUs.
//   conditions   what node-problem-detector and similar programs found. Plugins decide which of
//                them matter; here are those that report a problem.
//   backoff      kubelet rejected pods with devices there, one after the other (a black hole);
//                the engine counts and sets it (engine/backoffs/node_backoffs.h).
//   awaited      the node's device plugin restarts, as it seems: the engine knows what the node
//                offered before (engine/world/awaited_devices.h). No plugin reads it.
//
// Taints are not repeated here; NodeFacts has them. Source: NVIDIA/mig-parted, pkg/mig/reconfigure;
// gpu-operator's node labels.
#pragma once

#include "k8s-client/api/node.h"
#include "scheduler/base/resources.h"
#include "scheduler/gpu/labels.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sched::gpu {

inline constexpr std::string_view kMigConfigLabel = "nvidia.com/mig.config";
inline constexpr std::string_view kMigStateLabel = "nvidia.com/mig.config.state";

// The state of the last change of a node's MIG configuration.
enum class MigChange : std::uint8_t {
  kNone,       // done, or never requested; any other value
  kPending,    // under way
  kRebooting,  // under way; the node reboots for it
  kFailed,     // failed; how the GPUs are partitioned is not known
};
// mig-manager's name for it; empty for kNone.
[[nodiscard]] std::string_view to_string(MigChange change);

// A condition that reports a problem.
struct Alarm {
  std::string type;
  std::string reason;  // may be empty
  friend bool operator==(const Alarm&, const Alarm&) = default;
};

// A node that rejected too many pods.
struct AdmissionBackoff {
  k8s::Timestamp until{};
  int rejected = 0;    // pods
  std::string reason;  // of the last of them: "UnexpectedAdmissionError"
  friend bool operator==(const AdmissionBackoff&, const AdmissionBackoff&) = default;
};

// Devices that a node offers none of at the moment, and most likely will again.
struct AwaitedDevices {
  k8s::Timestamp until{};
  std::vector<ResourceAmount> amounts;  // what it offered last; by ascending id, not empty
  friend bool operator==(const AwaitedDevices&, const AwaitedDevices&) = default;
};

struct NodeHealth {
  // The labels state that the node has GPUs (nvidia.com/gpu.present, or a product by labels.h),
  // whatever it offers.
  bool labelled_gpus = false;
  MigChange mig_change = MigChange::kNone;
  std::string mig_config;  // the requested configuration; empty with kNone
  // By type. A type that ends in "Ready" reports a problem when it is False, any other when it is
  // True. Kubelet's own conditions are left out, because Kubernetes makes taints of them.
  std::vector<Alarm> alarms;
  std::optional<AdmissionBackoff> backoff;
  std::optional<AwaitedDevices> awaited;

  friend bool operator==(const NodeHealth&, const NodeHealth&) = default;
};

// `backoff` and `awaited` are empty.
[[nodiscard]] NodeHealth health_of(const k8s::Node& node, const SiteLabels& site);

// When a node counts as a black hole, and for how long.
struct RejectionLimits {
  int pods = 3;                              // that were rejected …
  std::chrono::seconds within{300};          // … within this time
  std::chrono::seconds initial_backoff{60};  // doubles with each one in a row …
  std::chrono::seconds max_backoff{1'800};   // … up to this
  friend bool operator==(const RejectionLimits&, const RejectionLimits&) = default;
};

}  // namespace sched::gpu
