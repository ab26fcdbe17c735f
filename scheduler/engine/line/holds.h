// What is kept for a pod that has waited long, so that no pod starves.
//
// Each quota keeps something for at most one pod: the first in line that has waited for
// Options::hold_after and can be helped, until that is placed or can be helped no more; who comes
// before it meanwhile has its turn, but not what is kept. Quota comes first: what becomes free in
// the line that it needs is kept for it (Ledger::hold). If quota has room and no node has, it holds
// a node besides: a claim on what it needs there. All other pods see the claim and the holder does
// not, so no smaller pod takes what is freed meanwhile. The node is the one that lacks least; how
// long the pods there still run is not known. A node that goes, or is cordoned or changed so that
// it could never take the pod, is let go at once, and another is looked for.
//
// Nothing is kept for a pod that no node could take even if it were empty, or that its quota could
// never take within the guarantee: it would keep its quota from all others for nothing. Such a pod
// is passed over with all of its kind, and what it was not given is kept for the next one in line
// that has waited as long. (A Strict quota passes nobody over, since no pod behind the first may
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
  bool looked_for_node = false;               // with or without success
  std::uint64_t facts_version = 0;            // of the nodes, when `on` was looked at last
};

class Holds {
 public:
  // All borrowed things outlive the holds.
  Holds(World& world, Finder& finder, Queues& queue)
      : world_(world), finder_(finder), queue_(queue) {}

  // O(quotas), where quotas, the pods that wait for them, or nodes have changed since, or a time
  // has come; else O(1).
  void renew(Time now);
  // When renew() will have something to do although nothing changes; nullopt: never.
  [[nodiscard]] std::optional<Time> next() const { return next_; }

  // What is held for it; null: nothing is.
  [[nodiscard]] Hold* of(const Entity& entity);
  [[nodiscard]] const Hold* of(const Entity& entity) const;
  // Nothing is held for that quota's pods any more.
  void release(QueueId queue);

  // Makes the pod, for which quota is held, hold one of those nodes, if one could ever take it.
  // O(nodes).
  void hold_node(const WaitingPod& pod, const Where& if_empty);
  // Whether the pod holds a node that would take it now without the reservation, within the
  // guarantee: of one of those classes, by ascending id.
  [[nodiscard]] bool held_node_has_room(const WaitingPod& pod,
                                        const std::vector<quota::ChargeClassId>& within);

 private:
  // The classes of the nodes that could take a pod of that shape if they were empty: nothing is
  // kept for a pod that no node could ever take, and what is kept is of a type that serves it.
  struct Reach {
    ShapeRef shape;                              // keeps its number
    std::optional<std::uint64_t> facts_version;  // of the nodes
    Time at{};
    std::vector<quota::ChargeClassId> classes;  // by ascending id
    bool in_use = false;                        // since holds were renewed last
  };

  // A line of which no pod has waited for hold_after before that time, unless the line changes.
  struct Young {
    std::uint64_t line_version = 0;
    Time until = Time::min();
  };

  void renew(QueueId queue, const WaitingLine& line, Time now);
  // Whether the pod's hold is as the ledger's quotas and the nodes are now.
  [[nodiscard]] bool is_renewed(const WaitingPod& pod, Time now);
  // Lets go of the node that the pod holds if that could never take it any more.
  void renew_node(WaitingPod& pod);
  [[nodiscard]] bool could_ever_take(const WaitingPod& pod, NodeSlot node);
  // The pod that something is kept for, if it is still in line and may have its turn; else null.
  [[nodiscard]] WaitingPod* holder(QueueId queue, const WaitingLine& line);
  // The first in line that something is to be kept for; null: each pod has waited less than
  // hold_after, or cannot be helped. O(kinds of pods in line), some hundreds at most.
  [[nodiscard]] WaitingPod* next_to_hold(QueueId queue, const WaitingLine& line, Time now);
  [[nodiscard]] bool can_be_helped(const WaitingPod& pod, Time now);
  // Found anew when nodes have changed, but not more often than every ten seconds. O(nodes) then.
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
