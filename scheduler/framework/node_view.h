// What a plugin reads of a node: its facts, and what is taken on it, possibly hypothetically.
//
// A view is a value, never an id for a lookup: preemption and what-if questions combine the facts
// of a node with a usage that is not, or not yet, real.
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

// The contents of the Node object. Changes when the object does.
struct NodeFacts {
  std::string name;
  // Of the Node object. Another one of the same name may be another machine: the engine then counts
  // the first as deleted.
  std::string uid{};
  k8s::StringMap labels;
  // What GPU feature discovery has labelled and taken back, because it restarts: the GPUs are what
  // these say. Set by the engine (engine/world/kept_labels.h).
  k8s::StringMap kept_labels{};
  std::vector<k8s::Taint> taints;
  bool unschedulable = false;
  std::vector<std::string> declared_features;  // status.declaredFeatures
  // What is wrong with its GPUs. Its `backoff` and `awaited` are set by the engine.
  gpu::NodeHealth health;
  // The charge class of its GPUs (scheduler/quota/charge_class.h); 0: no GPUs.
  std::uint32_t charge_class = 0;

  // These fields are last: each pod that comes to the node or leaves it makes every shape read them
  // again, and the node's usage follows them in memory (Nodes).
  // Follows from labels, kept labels, allocatable, its own `capacity`, and whether labels are
  // awaited (engine/world/awaited_labels.h).
  gpu::Inventory gpu;
  // GPUs that a DeviceAllocator keeps one by one, ≤ gpu::kMaxDevices; 0: they are only counted.
  std::int64_t gpu_devices = 0;
  Resources allocatable;  // kPods included

  friend bool operator==(const NodeFacts&, const NodeFacts&) = default;
};

// GPUs are only counted here; the engine sets `charge_class`, health.backoff and health.awaited,
// and keeps and awaits labels.
[[nodiscard]] NodeFacts facts_of(const k8s::Node& node, ResourceNames& names,
                                 const gpu::SiteLabels& site = {});
// Its labels, and those that are kept where it has none of that key.
[[nodiscard]] k8s::StringMap labels_with_kept(const NodeFacts& node);
// Its GPUs as these labels and its amounts state them.
[[nodiscard]] gpu::Inventory inventory_of(const NodeFacts& node, const ResourceNames& names,
                                          const gpu::SiteLabels& site);

// What is taken: the sum over all unfinished pods of every scheduler there, including terminating
// ones, and over the pods that this scheduler has decided to put there. kPods counts them.
struct NodeUsage {
  Resources requested;  // kPods included
  NonZeroRequests nonzero;
  std::vector<HostPort> host_ports;  // sorted; one entry per use
  gpu::DeviceUses devices;           // if devices are kept one by one
  gpu::SizeClassCounts gpu_pods{};   // the pods with GPU
  // Bytes, over the pods that state how much of their GPUs' memory they take; for other pods it is
  // not known.
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
