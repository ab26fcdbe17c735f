// Labels that GPU feature discovery has most likely not written yet.
//
// NVIDIA's device plugin offers GPUs, whole or shared, up to a minute before GPU feature discovery
// has labelled the node accordingly: on a node that joins, and on a node whose GPUs an
// administrator begins to share, or to share by more pods. Until then nothing says that the pieces
// are not whole GPUs, or how large they are. So when a node offers more nvidia.com/gpu than before,
// and its labels do not account for them, they count as shared for some time, in an unknown way:
// pods that accept no shared GPU, that need a certain amount of memory, or several pieces for one
// container, wait until the labels are there.
//
// This applies only where GPU feature discovery runs: a label of the GPU operator shows that, and
// so do GPU feature discovery's own labels. Elsewhere the offered amounts count at once as they
// are. Nothing is awaited from nodes that already offered their GPUs when this process first saw
// them.
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
  // If labels are awaited from the node, its facts, which are about to be published, count its GPUs
  // as shared. `before`: what the facts were; null: the node is new. O(log nodes) while labels are
  // awaited from the node, else O(1).
  void complete(NodeFacts& facts, const NodeFacts* before, Time now);
  void node_gone(const std::string& node);
  // The nodes from which no labels are awaited any more by `now`, in the order of their times. The
  // caller publishes their facts without awaited labels.
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
