// What a plugin sees of a node: what it is, and what is taken on it, possibly hypothetically.
//
// A view is a value, never an id to look things up with: preemption and what-if pair the facts of a
// node with a usage that is not, or not yet, true.
#pragma once

#include "k8s-client/api/node.h"
#include "scheduler/base/resources.h"
#include "scheduler/framework/host_ports.h"
#include "scheduler/framework/pod_requests.h"
#include "scheduler/gpu/devices.h"
#include "scheduler/gpu/health.h"
#include "scheduler/gpu/inventory.h"
#include "scheduler/gpu/size_class.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sched {

// What the Node object says. Changes when the object does.
struct NodeFacts {
  std::string name;
  k8s::StringMap labels;
  std::vector<k8s::Taint> taints;
  bool unschedulable = false;
  std::vector<std::string> declared_features;  // status.declaredFeatures
  // What speaks against putting pods with devices there. Its `backoff` is set by the engine.
  gpu::NodeHealth health;
  // Which GPUs they are to the quota ledger (scheduler/quota/charge_class.h); 0: none.
  std::uint32_t charge_class = 0;

  // Last, since each pod that comes or goes there makes every shape read it again, and what is
  // taken there follows it in memory (Nodes).
  gpu::Inventory gpu;  // follows from labels and allocatable
  // GPUs that a DeviceAllocator keeps one by one, ≤ gpu::kMaxDevices; 0: they are only counted.
  std::int64_t gpu_devices = 0;
  Resources allocatable;  // kPods included

  friend bool operator==(const NodeFacts&, const NodeFacts&) = default;
};

// Devices are only counted; `charge_class` and what speaks against the node are the engine's to
// set.
[[nodiscard]] NodeFacts facts_of(const k8s::Node& node, ResourceNames& names,
                                 const gpu::SiteLabels& site = {});

// What is taken: the sum over all unfinished pods there, of every scheduler, terminating ones
// included, and of those that we have decided to put there. kPods counts them.
struct NodeUsage {
  Resources requested;  // kPods included
  NonZeroRequests nonzero;
  std::vector<HostPort> host_ports;  // sorted; one entry per use
  gpu::DeviceUses devices;           // where GPUs are kept one by one
  gpu::SizeClassCounts gpu_pods{};   // the pods with GPU
  // Bytes, of the pods that say how much of their GPUs' memory they take; of the others, nothing is
  // known.
  std::int64_t gpu_memory = 0;

  friend bool operator==(const NodeUsage&, const NodeUsage&) = default;
};

struct NodeView {
  const NodeFacts& facts;
  const NodeUsage& usage;

  [[nodiscard]] std::int64_t allocatable(ResourceId id) const { return facts.allocatable.get(id); }
  [[nodiscard]] std::int64_t requested(ResourceId id) const { return usage.requested.get(id); }
  // What is left; negative on an over-committed node.
  [[nodiscard]] std::int64_t free(ResourceId id) const {
    return saturating_subtract(allocatable(id), requested(id));
  }
};

}  // namespace sched
