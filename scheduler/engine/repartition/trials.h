// What idle nodes would take, were they cut otherwise: the planner's questions, put to the
// profile's own filters.
//
// Idle is a node on which no pod, of whatever scheduler, holds anything of NVIDIA's: which of its
// GPUs are idle otherwise nobody knows, and mig-manager cannot cut a GPU that is in use. It comes
// into question if nvidia.com/mig.strategy is mixed or single (under none instances are not
// offered; under single all GPUs are cut into one profile), its model's geometry is known, its GPUs
// are not shared (what would be made of the shares is not known), and the labels say how many GPUs
// it has without contradicting what it offers. Whether it is healthy, tolerated, selected and large
// enough otherwise is for the filters to say, of the node as it would be (recut.h).
#pragma once

#include "scheduler/engine/finder/finder.h"
#include "scheduler/engine/world/waiting_pod.h"
#include "scheduler/engine/world/world.h"
#include "scheduler/gpu/mig/plan.h"

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace sched {

// By a resource of their own (strategy mixed), or as nvidia.com/gpu of a profile that is named
// (strategy single).
[[nodiscard]] bool asks_for_instances(const PodShape& shape);

class RepartitionTrials {
 public:
  // Nodes that are looked at: in all, and of those that are alike in model and number of GPUs.
  static constexpr std::size_t kMostNodes = 64;
  static constexpr std::size_t kMostAlike = 8;

  // `pods`, by their turn, ask for MIG instances and wait. All is borrowed.
  RepartitionTrials(const World& world, const Finder& finder, const PrepareContext& context,
                    std::vector<const WaitingPod*> pods);

  [[nodiscard]] const std::vector<gpu::mig::IdleNode>& nodes() const { return idle_; }
  // The profiles that the pods ask for, by their resources under the strategy mixed, sorted.
  [[nodiscard]] std::vector<std::string> wanted() const;
  // gpu::mig::Trial.
  [[nodiscard]] std::vector<std::size_t> fits(std::size_t node, const gpu::mig::Configuration& to,
                                              const std::vector<std::size_t>& waiting) const;

  [[nodiscard]] const NodeFacts& facts(std::size_t node) const {
    return nodes_.facts(slots_[node]);
  }
  // What cutting the node anew gives up, in words.
  [[nodiscard]] std::string cost(std::size_t node) const;

 private:
  void find_idle_nodes();
  [[nodiscard]] bool is_idle(const NodeView& node) const;
  [[nodiscard]] bool is_gpu(ResourceId id) const;

  const Nodes& nodes_;
  const gpu::SiteLabels& site_labels_;
  const Finder& finder_;
  const PrepareContext& context_;
  std::vector<const WaitingPod*> pods_;
  std::vector<gpu::mig::IdleNode> idle_;
  std::vector<NodeSlot> slots_;                                      // of idle_
  std::map<std::pair<std::size_t, ShapeId>, PreparedShape> shapes_;  // by profile
};

}  // namespace sched
