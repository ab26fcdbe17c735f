// Which waiting pods are decided on together: those of a group of which no pod has a node.
//
//   a pod has its turn ──▶ holds_back()? ── no ──▶ it is placed by itself
//                               │ yes
//                               ▼
//                             join() ──▶ the group has a turn ──▶ its pods get nodes
//                               ▲                  │
//                               └── leave() ◀──────┴──▶ it waits for pods, quota or nodes
//
// As soon as a pod of the group has a node, the group has started, and each further pod is placed
// by itself: one that was created anew, one whose bind has failed, and those beyond the number that
// start together. Such a pod is not held back later, when the others have finished; but it is if
// the binds of all others have failed. After a restart of this process, the pods with nodes show
// which groups have started. Exception: if all of them have finished, the pods that still wait
// await a new start. A pod that is being deleted does not count, so that a new run may use the name
// of the last one.
//
// Between its decision and its binds a group may be *starting* (group_start.h). A further pod that
// comes then joins the others if it finds room; if the start is given up, it waits with them.
#pragma once

#include "scheduler/engine/line/group_start.h"
#include "scheduler/engine/line/waking.h"
#include "scheduler/engine/world/pod_group.h"
#include "scheduler/engine/world/waiting_pod.h"
#include "scheduler/engine/world/world.h"
#include "scheduler/queue/queues.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace sched {

// Whether a asks for more than b: GPUs, then CPU, then memory.
[[nodiscard]] bool is_larger(const WaitingPod& a, const WaitingPod& b, const ResourceNames& names);

// What the pods of the group that start together ask of quota, those alone that allow the same
// types of GPU as `like`, a pod of the group.
[[nodiscard]] quota::Demand asked_like(const WaitingGroup& group, const WaitingPod& like);

// "3 of the 8 pods that start together as group train are there"; empty: none is missing.
[[nodiscard]] std::string missing_pods(const WaitingGroup& group);

class PodGroups {
 public:
  // All outlive it.
  PodGroups(World& world, Queues& queue, Waking& waking)
      : world_(world), queue_(queue), waking_(waking) {}

  // Whether the pod, which has its turn, may not be placed by itself: it names a group of which no
  // pod has a node yet.
  [[nodiscard]] bool holds_back(WaitingPod& pod, const PodGroup& named);
  // Whether kMostPods wait with that group already; while it is starting, whether as many follow.
  [[nodiscard]] bool is_full(const WaitingPod& pod, const PodGroup& named) const;
  // The pod leaves the queue, and waits with its group, which is active from now on.
  void join(WaitingPod& pod, const PodGroup& named, Time now);
  // The pods that were there before this process join their groups before any pod has its turn. So
  // a group that was complete stands in line where it stood, and no pod of a Strict quota passes it
  // because its last pod is younger. O(waiting pods · log waiting pods), and a join for each pod of
  // a group.
  void gather(Time now);
  // Does nothing for a pod that waits alone. Else the pod is in no queue, and its group, if others
  // are left, is active.
  void leave(WaitingPod& pod);
  // The group that waits and is of that kind; null: there is none.
  [[nodiscard]] WaitingGroup* find(std::uint32_t kind) const;
  // Whether a pod of that group has a node.
  [[nodiscard]] bool has_started(const WaitingGroup& group) const;
  // The group is gone; its pods, in their order, are in no queue.
  std::vector<WaitingPod*> disband(WaitingGroup& group);

  // The group of that pod, which has a node as the others that start with it, is starting.
  void begin_start(const std::string& uid, std::size_t min_count);
  // Null: the pod has no node, or its group is not starting.
  [[nodiscard]] GroupStart* starting(const std::string& uid) const;
  // Whether so many pods of the group of that pod, which is starting, have nodes as start together,
  // without those that have failed.
  [[nodiscard]] bool has_enough(const std::string& uid) const;
  // That pod, which has a node, has failed in the start of its group.
  void failed(const std::string& uid);
  // It has started, or is given up: pods that came late have their turn again.
  void end_start(const std::string& uid);
  // Whether the pod, which has no node, is of a group that is starting.
  [[nodiscard]] bool joins_starting_group(const WaitingPod& pod) const;

  // Identifies a group that has several pods on nodes.
  using GroupId = const void*;
  // The group of the pod, which has a node; null: it belongs to no group, or no other pod of its
  // group has a node.
  [[nodiscard]] GroupId among_others(const std::string& uid) const;

  // The pod has a node. Once its group has started, it is of the group that it names now; if it
  // names none, it is of no group.
  void has_node(const k8s::Pod& pod, std::size_t profile);
  // The pod has no node any more, or is being deleted.
  void has_no_node(const std::string& uid);
  // The bind of the pod has failed or was given up. If no other pod of its group has a node, those
  // that came late wait with it again.
  void was_not_bound(const std::string& uid);

 private:
  using Key = std::tuple<std::size_t, std::string, std::string>;  // profile, namespace, name
  struct Group {
    std::unordered_set<std::string> placed;  // by uid
    std::unique_ptr<WaitingGroup> waiting;   // null: no pod waits with it
    std::unique_ptr<GroupStart> start;       // null: it is not starting
    std::size_t failed = 0;                  // of `placed`, those that have failed in `start`
    // By uid, the pods that are placed by themselves because others have nodes; some may be gone.
    std::vector<std::string> late;
    std::size_t pruned_at = 0;  // the size of `late` after it was last pruned
  };
  using Groups = std::map<Key, Group>;
  static Key key_of(const WaitingGroup& group);
  // Computes what follows from its members.
  void renew(WaitingGroup& group);
  void add_late(Group& group, WaitingPod& pod) const;
  // No pod waits with it any more.
  void end_waiting(Groups::iterator group);
  void forget_if_empty(Groups::iterator group);

  World& world_;
  Queues& queue_;
  Waking& waking_;
  Groups groups_;
  std::unordered_map<std::string, Groups::iterator> of_placed_;  // by uid
  std::unordered_map<std::uint32_t, WaitingGroup*> waiting_;     // by kind
  std::uint32_t kinds_ = 0;  // groups ever, which have a kind each
  std::size_t starts_ = 0;   // begun, and not over
};

}  // namespace sched
