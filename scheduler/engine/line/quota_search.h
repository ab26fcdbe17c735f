// Where a waiting pod may go now by its quota, and whether a node there takes it.
//
// A pod goes first to GPUs on which it is within its quota's guarantee. Only if no such node has
// room does it go to GPUs on which it would borrow. Both placing a pod and computing what a parked
// pod waits for begin with this search.
#pragma once

#include "scheduler/engine/finder/finder.h"
#include "scheduler/engine/line/holds.h"
#include "scheduler/engine/world/world.h"
#include "scheduler/queue/accounts.h"
#include "scheduler/queue/queues.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace sched {

// The quota of the entity's queue.
[[nodiscard]] inline quota::QuotaId quota_of(const Entity& entity) {
  return static_cast<quota::QuotaId>(entity.queue);
}

class QuotaSearch {
 public:
  // All borrowed things outlive the search.
  QuotaSearch(const World& world, Finder& finder, Queues& queue, Holds& holds)
      : world_(world), finder_(finder), queue_(queue), holds_(holds) {}

  struct Found {
    quota::Admission admission;
    Scope scope;                          // the classes that were searched last
    const ScoreCache* answers = nullptr;  // for the pod's shape; valid until the next search
    Best best;                            // of the scope's nodes, for the pod
    bool borrows = false;                 // whether the pod would borrow on that node
    bool held_node = false;               // whether the node held for the pod has room
    [[nodiscard]] bool any() const { return best.node != kNoSlot || held_node; }
    [[nodiscard]] WaitsFor waits_for(const Ruling& ruling) const;
  };
  // For a pod that a quota counts.
  [[nodiscard]] Found find(const WaitingPod& pod, const Ruling& ruling = {});

  // For a pod that has the next turn and would borrow on the node that was found. Narrows `found`
  // to the best node of the GPU types on which no other quota stands before the pod's. nullopt: the
  // pod may have that node. Else others have their turn first: where its quota stands on the best
  // type that has room.
  [[nodiscard]] std::optional<quota::Standing> borrow_in_turn(const WaitingPod& pod,
                                                              const Ruling& ruling, Found& found);

  // What a parked pod waits for; nullopt: there is room. / What a parked group waits for, if that
  // is known without a search for all of its pods; nullopt: there may be room.
  [[nodiscard]] std::optional<WaitsFor> obstacle_of(const WaitingPod& pod);
  [[nodiscard]] std::optional<WaitsFor> obstacle_of(const WaitingGroup& group);
  // What a parked pod of a quota waits for, if it has no turn yet, its quota has no room for it, or
  // what is stored says that no node takes it; nullopt: there may be room.
  [[nodiscard]] std::optional<WaitsFor> known_obstacle_of(const WaitingPod& pod);
  // As Finder::searched().
  [[nodiscard]] std::uint64_t searched() const { return finder_.searched() + searched_for_groups_; }
  // A search for a group has asked so many nodes.
  void has_searched(std::size_t answers) { searched_for_groups_ += answers; }
  // Whether the entity's quota is Strict and another entity has its turn first.
  [[nodiscard]] bool must_wait_for_turn(const Entity& entity) const {
    return must_start_before(entity) > 0;
  }
  // How many others have their turn first and must have started before the entity may: none, unless
  // its quota is Strict.
  [[nodiscard]] std::size_t must_start_before(const Entity& entity) const;

  // The nodes of those classes, by ascending id, and the nodes without GPUs.
  [[nodiscard]] Scope scope_of(std::vector<quota::ChargeClassId> classes);

 private:
  // Searches the nodes of those classes, in any order. Whether one has room.
  bool look(const WaitingPod& pod, const Ruling& ruling, std::vector<quota::ChargeClassId> classes,
            Found& found);

  const World& world_;
  Finder& finder_;
  Queues& queue_;
  Holds& holds_;
  quota::ClassSets class_sets_;
  std::uint64_t searched_for_groups_ = 0;
};

// The quotas' accounts as the queues ask for them, to decide which has the next turn.
class QuotaAccounts final : public Accounts {
 public:
  QuotaAccounts(const quota::Ledger& ledger, const Holds& holds, QuotaSearch& search)
      : ledger_(ledger), holds_(holds), search_(search) {}
  [[nodiscard]] quota::Standing standing(const Entity& head) const override;
  [[nodiscard]] std::vector<quota::InPool> in_pools(QueueId queue) const override;
  [[nodiscard]] bool lends(quota::PoolId pool) const override;
  [[nodiscard]] std::uint64_t searched() const override;
  [[nodiscard]] std::optional<WaitsFor> known_obstacle(const Entity& parked) override;
  [[nodiscard]] std::optional<WaitsFor> obstacle(const Entity& parked) override;

 private:
  const quota::Ledger& ledger_;
  const Holds& holds_;
  QuotaSearch& search_;
};

}  // namespace sched
