// What is held for pods that have waited long, so that no pod starves.
//
// Each quota holds something for the first pods in line that have waited for Options::hold_after
// and that holding can help: for as many as its guarantee is enough for, and at most kMostHolds. A
// hold lasts until the pod is placed or can no longer be helped. A pod that comes before it
// meanwhile has its turn, but cannot use what is held. The holds of a quota have ranks, in the
// order in which they were made: what becomes free goes to the first. So several pods that need a
// whole node each wait for their nodes at the same time, and not one after another. Once the holds
// of a line leave too little of its guarantee for a pod, nothing of that line is held for the pods
// behind it, which would take what it waits for; those of other lines have holds all the same.
//
// First, quota is held: what becomes free in the line that the pod needs (Ledger::hold). If quota
// has room and no node has, a node is held, too: a claim on what the pod needs there. All other
// pods see the claim, the holder does not, so no smaller pod takes what is freed meanwhile. The
// node is the one that lacks least, of those that are held for no other pod; how long the pods
// there still run is not known. If the node is removed, cordoned, or changed so that it could never
// take the pod, or so that quota counts its GPUs otherwise, it is released at once, and another is
// searched; a node whose device plugin restarts stays held (world/awaited_devices.h). A pod that
// found no node searches again when nodes have changed, at most every ten seconds.
//
// For a group of pods (pod_groups.h) quota is held, but no nodes.
//
// Nothing is held for a pod that no node could take even if empty, for a group for which all nodes
// together are too small, or for what its quota could never take within the guarantee: that would
// keep the quota from all other pods for nothing. Such a pod is passed over with all of its kind,
// and quota is held for the next one in line that has waited as long. (A Strict quota passes over
// no pod, and holds for the first alone, because no pod behind the first may have its turn.) If a
// quota is changed so that a pod could be within the guarantee, the time that the pod has waited
// counts from then on.
#pragma once

#include "scheduler/cluster/placement.h"
#include "scheduler/engine/finder/finder.h"
#include "scheduler/engine/world/world.h"
#include "scheduler/queue/queues.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace sched {

// The most pods of one quota for which something is held at the same time.
inline constexpr std::size_t kMostHolds = 16;

// What is held for one pod.
struct Hold {
  std::string uid;                            // of the pod
  QueueOrder order;                           // of the pod
  std::uint32_t kind = 0;                     // of the pod
  std::vector<quota::ChargeClassId> classes;  // of the nodes that could take it
  std::optional<Placement> on;                // a reservation in the pod's name
  bool looked_for_node = false;               // whether a node was found or not
  quota::ChargeClassId on_class{};            // of that node, when it was held
  Time looked_at{};                           // when that was
  // Of the nodes, when `on` was last checked; without `on`, when a node was last searched.
  std::uint64_t facts_version = 0;
};

class Holds {
 public:
  // All borrowed things outlive the holds.
  Holds(World& world, Finder& finder, Queues& queue)
      : world_(world), finder_(finder), queue_(queue) {}

  // O(quotas) if quotas, the pods that wait for them, or nodes have changed since, or next() is
  // past; else O(1).
  void renew(Time now);
  // When renew() will have something to do although nothing changes; nullopt: never.
  [[nodiscard]] std::optional<Time> next() const { return next_; }

  // The hold for it; null: none.
  [[nodiscard]] Hold* of(const Entity& entity);
  [[nodiscard]] const Hold* of(const Entity& entity) const;
  // Its rank among the holds of its quota.
  [[nodiscard]] quota::HoldRank rank_of(const Entity& entity) const;
  // Sets a pod apart from the others of its kind while something is held for it.
  [[nodiscard]] Apart apart(const Entity& entity) const {
    return {.held_for = of(entity) == nullptr ? 0 : entity.order.arrival};
  }
  // Calls visit(queue, hold) for each hold, by queue and rank.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (const auto& [queue, quota] : quotas_) {
      for (const Hold& hold : quota.holds) visit(queue, hold);
    }
  }
  // Ends the hold for it, which it has.
  void release(const Entity& entity);
  // The entity, which a quota counts, was looked at and has no room: notes whether it is beyond the
  // guarantee.
  void looked_at(Entity& entity, Time now) const;

  // Holds one of those nodes for the pod, which has a hold of quota, if one could ever take it; not
  // one that `is_spoken_for`. True if another node that was held for it is let go. O(nodes).
  bool hold_node(const WaitingPod& pod, const Where& if_empty,
                 const std::function<bool(NodeSlot)>& is_spoken_for, Time now);
  // Whether the node held for the pod would take it now without the reservation, within the
  // guarantee: on one of those classes, by ascending id.
  [[nodiscard]] bool held_node_has_room(const WaitingPod& pod,
                                        const std::vector<quota::ChargeClassId>& within);

 private:
  // The classes of the nodes that could take a pod of that shape if they were empty; none if all
  // together could not take as many as start together. So nothing is held for what could never be
  // placed, and only quota for types that serve it.
  struct Reach {
    ShapeRef shape;                              // so that its id stays the same
    std::optional<std::uint64_t> facts_version;  // of the nodes
    Time at{};
    std::vector<quota::ChargeClassId> classes;  // by ascending id
  };
  using Versions = std::array<std::uint64_t, 3>;

  struct OfQuota {
    std::list<Hold> holds;  // by rank; a reservation points to the uid
    // Renewing changes nothing before `due`, if `settled`, until one of the versions changes: of
    // the line, of the ledger's terms, and of the nodes' facts.
    bool settled = false;
    // Not settled, but nothing changes before this pod is parked: it has its turn first, and then
    // something is held for it.
    std::optional<QueueOrder> has_turn_first;
    Versions seen{};
    std::optional<Time> due;
    std::vector<std::shared_ptr<Reach>> asked;  // by the last renewal
  };

  void renew(QueueId queue, const WaitingLine& line, Time now);
  // Returns false if a pod for which something is to be held has its turn first, and notes it.
  bool renew(QueueId queue, OfQuota& quota, const WaitingLine& line, Time now);
  [[nodiscard]] static bool is_settled(const OfQuota& quota, const WaitingLine& line);
  // The terms have changed, or what the pods of the holds may use: makes the holds again.
  void make_again(QueueId queue, OfQuota& quota, const WaitingLine& line, Time now);
  using Each = std::list<Hold>::iterator;
  // Both return the hold behind it. The first ends the ledger's part of it, too.
  Each release(QueueId queue, OfQuota& quota, Each hold);
  Each drop(OfQuota& quota, Each hold);
  // Nodes have changed: releases the node held for the entity if that could never take it any more,
  // or is of another charge class, on which the quota may give it nothing.
  void renew_node(Hold& hold, Entity& entity, Time now);
  // The same for an entity that found no node to hold: it may have another turn, to search again.
  void search_again(Hold& hold, Entity& entity, Time now);
  [[nodiscard]] bool could_ever_take(const WaitingPod& pod, NodeSlot node);
  // The same for a shape that no filter rejects as a whole, and a node that exists.
  [[nodiscard]] bool could_ever_take(const PreparedShape& shape, NodeSlot node) const {
    return finder_.verdict(shape, node, {.if_empty = true}).is_ok() ||
           finder_.takes_with_awaited(shape, node);
  }
  // The entity that the hold is for, if it is still in line and may have its turn; else null.
  [[nodiscard]] Entity* holder(QueueId queue, const Hold& hold, const WaitingLine& line) const;
  // Lines of a quota of which nothing more can be held: a pod waits for that, and those behind it
  // must not hold what it needs.
  using FullLines = std::set<std::size_t>;
  // The first in line that needs a hold and has none; null: each pod has waited less than
  // hold_after, or cannot be helped. O(kinds of pods in line), some hundreds at most.
  [[nodiscard]] Entity* next_to_hold(QueueId queue, const OfQuota& quota, const WaitingLine& line,
                                     const FullLines& full, Time now);
  // The entity, or the next of its kind for which nothing is held.
  [[nodiscard]] static Entity* without_hold(Entity* entity, const OfQuota& quota,
                                            const WaitingLine& line);
  [[nodiscard]] bool can_be_helped(const Entity& entity, const FullLines& full, Time now);
  // Of the classes that could take the entity, those that are charged to other lines.
  [[nodiscard]] std::vector<quota::ChargeClassId> reach_without(const FullLines& full,
                                                                const Entity& entity, Time now);
  // Adds the lines of which the ledger would hold something for the entity, were nothing held.
  // False: there is no other.
  [[nodiscard]] bool add_lines_of(const Entity& entity, FullLines& full, Time now);
  // Computed again when nodes have changed, at most every ten seconds. O(nodes) then.
  [[nodiscard]] const std::vector<quota::ChargeClassId>& reach_of(const Entity& entity, Time now);
  void due_at(Time at) { due_ = due_ ? std::min(*due_, at) : at; }
  // The nodes that are held, by slot.
  [[nodiscard]] std::vector<bool> held_nodes() const;

  World& world_;
  Finder& finder_;
  Queues& queue_;
  std::map<QueueId, OfQuota> quotas_;
  // Of what has waited long, by profile, shape, and how many pods of the shape start together.
  std::map<std::tuple<std::size_t, ShapeId, std::size_t>, std::weak_ptr<Reach>> reach_;
  // Of the quota that is being renewed.
  std::optional<Time> due_;
  std::vector<std::shared_ptr<Reach>> asked_;

  std::optional<Time> next_;
  Versions renewed_at_{};  // of queues, ledger, nodes' facts
};

}  // namespace sched
