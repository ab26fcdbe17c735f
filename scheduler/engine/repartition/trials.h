// What nodes would take if their GPUs were repartitioned: the questions of
// gpu::mig::repartitions(), answered by the profile's own filters.
//
// A node is repartitioned as a whole, and only while no pod, of any scheduler, holds NVIDIA
// resources on it: which of its GPUs are idle is not known otherwise, and mig-manager cannot
// repartition a GPU that is in use. If there are such pods, the question is what would fit after
// they have ended. A node comes into question if nvidia.com/mig.strategy is mixed or single (under
// none, instances are not offered; under single, all GPUs are partitioned into one profile), the
// geometry of its model is known, its GPUs are not shared (how the shares would change is not
// known), and its labels give the number of its GPUs without contradicting what it offers. Whether
// it is healthy, tolerated, selected and large enough otherwise is left to the filters, which see
// the node as it would be (repartitioned.h). Whether the pods' quotas have room for all of them
// there is asked of the ledger, in a trial. In a Strict quota no pod passes another: if one is not
// placed, those behind it are not.
#pragma once

#include "scheduler/engine/finder/finder.h"
#include "scheduler/engine/line/holds.h"
#include "scheduler/engine/world/waiting_pod.h"
#include "scheduler/engine/world/world.h"
#include "scheduler/gpu/mig/repartitions.h"
#include "scheduler/quota/ledger_trial.h"

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace sched {

// Asks for them by their own resource (strategy mixed), or as nvidia.com/gpu of a profile that the
// pod names (strategy single).
[[nodiscard]] bool asks_for_instances(const PodShape& shape);

class RepartitionTrials {
 public:
  // The most nodes that are looked at: in all, and with the same model and number of GPUs. Both
  // limits apply once to idle nodes and once to the others. Of the others, the nodes where the
  // fewest pods must end are looked at.
  static constexpr std::size_t kMostNodes = 64;
  static constexpr std::size_t kMostAlike = 8;

  // `pods`, in the order of their turns, ask for MIG instances and wait; of a Strict quota, these
  // are the first in line. The arguments outlive it.
  RepartitionTrials(const World& world, const Finder& finder, const Holds& holds,
                    const PrepareContext& context, std::vector<const WaitingPod*> pods);

  [[nodiscard]] const std::vector<gpu::mig::Candidate>& nodes() const { return candidates_; }
  // The profiles that the pods ask for, by their resources under the strategy mixed, sorted.
  [[nodiscard]] std::vector<std::string> wanted() const;
  // gpu::mig::FitsIfPartitioned.
  [[nodiscard]] std::vector<std::size_t> fits(
      std::size_t node, const gpu::mig::Configuration& to, const std::vector<std::size_t>& waiting,
      const std::vector<gpu::mig::Repartition>& before) const;

  [[nodiscard]] const NodeFacts& facts(std::size_t node) const {
    return nodes_.facts(slots_[node]);
  }
  // What the node gives up if it is repartitioned, as text.
  [[nodiscard]] std::string cost(std::size_t node) const;

 private:
  void find_candidates();
  void add(NodeSlot slot, std::size_t occupants);
  [[nodiscard]] static bool can_be_repartitioned(const NodeFacts& node);
  [[nodiscard]] bool is_idle(const NodeView& node) const;
  [[nodiscard]] bool holds_gpus(const Occupant& occupant) const;
  [[nodiscard]] bool is_gpu(ResourceId id) const;

  [[nodiscard]] NodeFacts repartitioned_facts(std::size_t node,
                                              const gpu::mig::Configuration& to) const;
  // As what the node's GPUs are charged if they are partitioned so.
  [[nodiscard]] quota::ChargeClass charged_as(std::size_t node,
                                              const gpu::mig::Configuration& to) const;
  [[nodiscard]] bool quota_allows(const WaitingPod& pod, const quota::ChargeClass& on,
                                  const quota::LedgerTrial& in) const;
  // Whether none behind it in its quota may start before it.
  [[nodiscard]] bool must_not_be_passed(const WaitingPod& pod) const;

  const World& world_;
  const Nodes& nodes_;
  const Finder& finder_;
  const Holds& holds_;
  const PrepareContext& context_;
  std::vector<const WaitingPod*> pods_;
  std::vector<gpu::mig::Candidate> candidates_;
  std::vector<NodeSlot> slots_;                                      // of candidates_
  std::map<std::pair<std::size_t, ShapeId>, PreparedShape> shapes_;  // by profile
};

}  // namespace sched
