// What nodes would take, were they cut otherwise: the planner's questions, put to the profile's own
// filters.
//
// A node is cut as a whole, without pods, of whatever scheduler, that hold anything of NVIDIA's:
// which of its GPUs are idle otherwise nobody knows, and mig-manager cannot cut a GPU that is in
// use. Where there are such pods it is asked what would fit once they are gone. A node comes into
// question if nvidia.com/mig.strategy is mixed or single (under none instances are not
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
  // Nodes that are looked at, of the idle ones as of the others: in all, and of those that are
  // alike in model and number of GPUs; of the others those with the fewest pods to go.
  static constexpr std::size_t kMostNodes = 64;
  static constexpr std::size_t kMostAlike = 8;

  // `pods`, by their turn, ask for MIG instances and wait. All is borrowed.
  RepartitionTrials(const World& world, const Finder& finder, const PrepareContext& context,
                    std::vector<const WaitingPod*> pods);

  [[nodiscard]] const std::vector<gpu::mig::Candidate>& nodes() const { return candidates_; }
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
  void find_candidates();
  void add(NodeSlot slot, std::size_t occupants);
  [[nodiscard]] static bool can_be_cut(const NodeFacts& node);
  [[nodiscard]] bool is_idle(const NodeView& node) const;
  [[nodiscard]] bool holds_gpus(const Occupant& occupant) const;
  [[nodiscard]] bool is_gpu(ResourceId id) const;

  const Nodes& nodes_;
  const gpu::SiteLabels& site_labels_;
  const Finder& finder_;
  const PrepareContext& context_;
  std::vector<const WaitingPod*> pods_;
  std::vector<gpu::mig::Candidate> candidates_;
  std::vector<NodeSlot> slots_;                                      // of candidates_
  std::map<std::pair<std::size_t, ShapeId>, PreparedShape> shapes_;  // by profile
};

}  // namespace sched
