// Labels that GPU feature discovery has most likely not written yet.
//
// NVIDIA's device plugin offers GPUs, whole or shared, up to a minute before GPU feature discovery
// has labelled the node accordingly: on a node that joins, and where an administrator has GPUs
// shared that were whole. Until then nothing says that the pieces are not whole GPUs. So when a
// node offers more nvidia.com/gpu than before, and its labels do not account for them, they count
// as shared for some time, in an unknown way: pods that want no shared GPU, and pods with several
// for one container, wait until the labels are there.
//
// That is so only where GPU feature discovery runs: the GPU operator says so by a label, and its
// own labels do. Elsewhere a node is what its amounts say, at once. Nothing is awaited from nodes
// that offered their GPUs already when this process saw them first.
#pragma once

#include "scheduler/base/types.h"
#include "scheduler/framework/node_view.h"

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace sched {

// GPU feature discovery that has not labelled the node by then is broken or not installed.
inline constexpr std::chrono::minutes kLabelsAwaited{2};

class AwaitedLabels {
 public:
  // If labels are awaited from the node, its GPUs count so in its facts, which are about to be
  // published. `before`: what they were; null: the node is new. O(log nodes) while it has labels to
  // await, else O(1).
  void complete(NodeFacts& facts, const NodeFacts* before, Time now);
  void node_gone(const std::string& node);
  // The nodes from which no labels are awaited any more by `now`, in the order of their times. The
  // caller publishes their facts without that.
  [[nodiscard]] std::vector<std::string> end(Time now);
  // When end() will next have something to do; nullopt: never.
  [[nodiscard]] std::optional<Time> next_end() const;

 private:
  // The nodes from which labels are awaited, and until when at most; the same by time.
  std::map<std::string, Time> until_;
  std::set<std::pair<Time, std::string>> ends_;
};

// The facts of the node as its labels and amounts state them.
[[nodiscard]] NodeFacts without_awaited_labels(const NodeFacts& facts, const ResourceNames& names,
                                               const gpu::SiteLabels& site);

}  // namespace sched
