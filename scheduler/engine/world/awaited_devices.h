// Devices that a node offers none of at the moment, and most likely will again.
//
// While NVIDIA's device plugin restarts, for example because its DaemonSet is updated, kubelet sets
// what the node offers to zero for some seconds. The pods that run there keep their GPUs. What was
// decided about the node before must outlast that: the quota's account of those pods, a node that
// is held for a pod, room that is being made. So the facts of the node have for some time what it
// offered before (gpu::NodeHealth::awaited). No filter reads that: no pod gets devices that are not
// there.
//
// Nothing is awaited from a node whose labels state no GPUs or another product than before, that
// changes its MIG configuration, or that offers something else now: its GPUs are shared or
// partitioned in another way.
#pragma once

#include "scheduler/base/resources.h"
#include "scheduler/base/types.h"
#include "scheduler/framework/node_view.h"
#include "scheduler/gpu/labels.h"

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace sched {

// A device plugin that has not come back by then is broken.
inline constexpr std::chrono::minutes kDevicesAwaited{2};

class AwaitedDevices {
 public:
  // Adds what is awaited to the node's facts, which are about to be published. `before`: what they
  // were; null: the node is new. O(resources of the node) if they have changed, else O(1).
  void complete(NodeFacts& facts, const NodeFacts* before, const ResourceNames& names, Time now);
  // The node of those facts is gone.
  void node_gone(const NodeFacts& facts);
  // The nodes from which nothing is awaited any more by `now`, in the order of their times. The
  // caller publishes their facts without it.
  [[nodiscard]] std::vector<std::string> end(Time now);
  // When end() will next have something to do; nullopt: never.
  [[nodiscard]] std::optional<Time> next_end() const;

 private:
  std::set<std::pair<Time, std::string>> ends_;  // of the nodes whose facts have something awaited
};

// The facts of the node as if it offered what is awaited from it. Its charge class stays.
[[nodiscard]] NodeFacts with_awaited(const NodeFacts& facts, const ResourceNames& names,
                                     const gpu::SiteLabels& site);

}  // namespace sched
