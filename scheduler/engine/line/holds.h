// What is held for a pod that has waited long, so that no pod starves.
//
// Each quota holds something for at most one pod: the first in line that has waited for
// Options::hold_after and that holding can help. The hold lasts until the pod is placed or can no
// longer be helped. A pod that comes before it meanwhile has its turn, but cannot use what is held.
// First, quota is held: what becomes free in the line that the pod needs (Ledger::hold). If quota
// has room and no node has, a node is held, too: a claim on what the pod needs there. All other
// pods see the claim, the holder does not, so no smaller pod takes what is freed meanwhile. The
// node is the one that lacks least; how long the pods there still run is not known. If the node is
// removed, cordoned, or changed so that it could never take the pod, it is released at once, and
// another is searched.
//
// Nothing is held for a pod that no node could take even if empty, or that its quota could never
// take within the guarantee: that would keep the quota from all other pods for nothing. Such a pod
// is passed over with all of its kind, and quota is held for the next one in line that has waited
// as long. (A Strict quota passes over no pod, because no pod behind the first may have its turn.)
// have its turn.)
#pragma once

#include "scheduler/cluster/placement.h"
#include "scheduler/engine/finder/finder.h"
#include "scheduler/engine/world/world.h"
#include "scheduler/queue/queues.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sched {

// What is held for one pod.
struct Hold {
  std::string uid;                            // of the pod
  QueueOrder order;                           // of the pod
  std::uint32_t kind = 0;                     // of the pod
  std::vector<quota::ChargeClassId> classes;  // of the nodes that could take it
  std::optional<Placement> on;                // a reservation in the pod's name
  bool looked_for_node = false;               // whether a node was found or not
  std::uint64_t facts_version = 0;            // of the nodes, when `on` was last checked
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
  // Releases the hold of that quota.
  void release(QueueId queue);

  // Holds one of those nodes for the pod, which has a hold of quota, if one could ever take it.
  // O(nodes).
  void hold_node(const WaitingPod& pod, const Where& if_empty);
  // Whether the node held for the pod would take it now without the reservation, within the
  // guarantee: on one of those classes, by ascending id.
  [[nodiscard]] bool held_node_has_room(const WaitingPod& pod,
                                        const std::vector<quota::ChargeClassId>& within);

 private:
  // The classes of the nodes that could take a pod of that shape if they were empty. So nothing is
  // held for a pod that no node could ever take, and only quota for types that serve it.
  struct Reach {
    ShapeRef shape;                              // so that its id stays the same
    std::optional<std::uint64_t> facts_version;  // of the nodes
    Time at{};
    std::vector<quota::ChargeClassId> classes;  // by ascending id
    bool in_use = false;                        // since the last renewal of holds
  };

  // No pod in the line will have waited for hold_after before `until`, unless the line changes.
  struct Young {
    std::uint64_t line_version = 0;
    Time until = Time::min();
  };

  void renew(QueueId queue, const WaitingLine& line, Time now);
  // Whether the pod's hold matches the ledger's quotas and the nodes.
  [[nodiscard]] bool is_renewed(const WaitingPod& pod, Time now);
  // Releases the node held for the pod if that could never take it any more.
  void renew_node(WaitingPod& pod);
  [[nodiscard]] bool could_ever_take(const WaitingPod& pod, NodeSlot node);
  // The pod that the queue's hold is for, if it is still in line and may have its turn; else null.
  [[nodiscard]] WaitingPod* holder(QueueId queue, const WaitingLine& line);
  // The first in line that needs a hold; null: each pod has waited less than hold_after, or cannot
  // be helped. O(kinds of pods in line), some hundreds at most.
  [[nodiscard]] WaitingPod* next_to_hold(QueueId queue, const WaitingLine& line, Time now);
  [[nodiscard]] bool can_be_helped(const WaitingPod& pod, Time now);
  // Computed again when nodes have changed, at most every ten seconds. O(nodes) then.
  [[nodiscard]] const std::vector<quota::ChargeClassId>& reach_of(const WaitingPod& pod, Time now);
  void due_at(Time at) { next_ = next_ ? std::min(*next_, at) : at; }

  World& world_;
  Finder& finder_;
  Queues& queue_;
  std::map<QueueId, Hold> holds_;
  // Of the pods that have waited long, by profile and shape.
  std::map<std::pair<std::size_t, ShapeId>, Reach> reach_;
  std::unordered_map<QueueId, Young> young_;
  std::optional<Time> next_;
  using Versions = std::array<std::uint64_t, 3>;  // of queues, ledger, nodes' facts
  Versions renewed_at_{};
};

}  // namespace sched
