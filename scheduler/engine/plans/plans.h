// Plans: what was decided for a pod, from the choice of its node until its bind is known to have
// succeeded, or everything is undone.
//
//   ┌─ makes room ──┐   ┌───────── prepares ──────────┐
//   evicts ──▶ waits ──▶ writes ───▶ waits until ready ───▶ bind ───▶ bound
//      │         │         │               │                │
//      └─────────┴─────────┴───────────────┴────────────────┴──▶ undone in reverse; the pod backs
//                                                                off, then is active
//
// Most pods skip the first two parts (making room), or the first four. If nothing must be done
// before the bind, the bind is the whole plan: it leaves the engine at once, and there is no entry
// here. During the whole plan the pod is assumed on its node, and charged; while room is made for
// it, beside the pods that leave. So no other gets what becomes free.
//
// The pods of a group start together: if nothing must be done before any bind, all binds leave the
// engine at once. Else each pod has an entry here, also if nothing must be done for it. The binds
// leave when all pods are ready. If one fails and too few are left without it, everything is undone
// (line/group_start.h).
//
// Several plans may make room on one node: the first decided is served first, and those behind wait
// for the pods that leave for the first ones, too. If room comes elsewhere meanwhile, the plan is
// given up, and its pod has its turn at once. A pod that does not leave (its deletion hangs) stays
// counted, and is not waited for again.
//
// A plan that makes room is looked at when its node changes, or the pods there; one that prepares,
// when its node changes, or an object that its preparation awaits. Before the bind leaves the
// engine, the node is asked again whether it could take the pod.
//
// The engine decides each part, and the outcome of a part is an event. The shell, which carries
// parts out, does not depend on their order. So a plan that waits for hours is recorded and
// replayed as everything else is, and continues or ends by what the watches show. What was already
// written stays when a plan is undone, as with kube-scheduler; the next process finds it.
#pragma once

#include "scheduler/engine/decision.h"
#include "scheduler/engine/finder/finder.h"
#include "scheduler/engine/line/assumed_pods.h"
#include "scheduler/engine/line/pod_groups.h"
#include "scheduler/engine/line/quota_search.h"
#include "scheduler/engine/plans/charges_behind.h"
#include "scheduler/engine/plans/decided_together.h"
#include "scheduler/engine/plans/departures.h"
#include "scheduler/engine/plans/room_elsewhere.h"
#include "scheduler/engine/world/world.h"
#include "scheduler/framework/object_key.h"
#include "scheduler/framework/preparation.h"
#include "scheduler/queue/queues.h"
#include "scheduler/quota/ledger_trial.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sched {

class Plans {
 public:
  // All outlive it.
  Plans(World& world, Finder& finder, Queues& queue, QuotaSearch& search, AssumedPods& assumed,
        PodGroups& groups)
      : world_(world),
        finder_(finder),
        queue_(queue),
        assumed_(assumed),
        groups_(groups),
        decided_(world),
        departures_(world),
        behind_(world),
        elsewhere_(world, finder, search) {}

  // What the constraints require before the pod is bound there; nullopt: nothing, and the bind is
  // the whole plan.
  [[nodiscard]] std::optional<Preparation> preparation_for(const WaitingPod& pod,
                                                           NodeSlot node) const;
  // Starts the plan of a pod that has just been assumed on its node. Returns its first part.
  [[nodiscard]] decision::Prepare begin(decision::Bind bind, Preparation wanted, Time now);
  // The pods of a group start together: these are the first parts of their plans, and none has left
  // the engine. If one pod has to be prepared, a bind becomes a Prepare.
  void start_together(std::vector<Decision>& parts, std::size_t min_count, Time now);

  // The pods, by uid, that leave a node before a pod is bound there.
  struct Leaving {
    std::set<std::string> evicted;  // for this pod
    std::set<std::string> others;   // are being deleted, or are evicted for another pod
  };
  // Starts the plan of a pod that has just been assumed on its node. Returns the plan's number.
  [[nodiscard]] std::uint64_t wait_for_room(decision::Bind bind, Leaving leaving, Time now);
  // The pods that are evicted for this pod, and are not known to be deleted yet.
  [[nodiscard]] std::vector<std::string> evicted_for(const std::string& uid) const;
  // The pods that leave their nodes.
  [[nodiscard]] const Departures& departures() const { return departures_; }
  // The pod's plan, if it has one, will be undone for this reason, which is not the node's fault.
  void fail(const std::string& uid, std::string why);

  // The outcome of a part. For bind_failed() the pod is assumed.
  void on(const event::Prepared& event);
  void bind_failed(PodRecord& record, const event::BindFailed& event, Time now);

  // The object, or the node, has changed: plans that prepare and wait for it may have become ready,
  // or may fail. O(their number).
  void look_again(const ObjectKey& changed);
  // The node has changed, or a pod has left it: the same for the plans that wait for room there.
  void room_changed(NodeSlot node);
  // Quotas may allow more: the same for all plans that wait for room, once for each version of the
  // ledger.
  void quota_changed();
  // The pod, which has a node, is being deleted, and has until `deadline` to leave.
  void leaves_by(const std::string& uid, Time deadline);
  // The pod has left its node.
  void has_left(const std::string& uid, NodeSlot node);
  // The pod, which has just been assumed, and whose bind has not left the engine, has no node after
  // all. It is in no queue.
  void take_back(const std::string& uid);
  // The pod is gone, or was bound by another scheduler.
  void drop(const std::string& uid);
  // Whether room is made on the node for some pod. / For how many pods it is made, on all nodes.
  [[nodiscard]] bool make_room_on(NodeSlot node) const { return on_node_.contains(node); }
  [[nodiscard]] std::size_t making_room() const { return on_node_.size(); }
  // Whether the pod has a node, and its bind has not left the engine yet.
  [[nodiscard]] bool prepares(const std::string& uid) const { return of_pod_.contains(uid); }

  // The next part of a plan, or the report of a plan that was undone; nullopt: there is none now.
  [[nodiscard]] std::optional<Decision> next(Time now);
  // When there will be one even if nothing happens; nullopt: never.
  [[nodiscard]] std::optional<Time> next_end() const;

 private:
  using Id = std::uint64_t;
  struct Plan {
    decision::Bind bind;
    bool makes_room = false;        // the first parts: else those that prepare
    bool made_room = false;         // prepares: others have left the node for it
    std::set<std::string> leaving;  // makes_room: the pods, by uid, that are still on the node
    std::set<std::string> evicted;  // of these, for this plan's pod
    std::vector<ObjectWrite> writes;
    std::vector<ObjectKey> awaits;  // prepares: Preparation::awaits
    // prepares: how much the node offered, of what its pod asks for, when that began.
    std::vector<ResourceAmount> offered;
    bool written = false;  // the calls of its present part have succeeded
    Time end{};            // undone if it is not ready by then; one that is ready is looked at
    Time latest{};         // makes_room: `end` is never later
    std::string failure;   // not empty: the plan will be undone
    bool moves = false;    // because there is room elsewhere
    bool by_node = true;   // the failure is the node's fault: after some it is left out for the pod
  };
  using Entry = std::map<Id, Plan>::iterator;

  // All that the plan waits for, with its node.
  [[nodiscard]] static std::vector<ObjectKey> awaited_by(const Plan& plan);
  [[nodiscard]] Readiness readiness_of(Id id, const Plan& plan, Time now);
  // Whether the node could take the pod by its facts; waits for a device plugin that restarts.
  [[nodiscard]] Readiness readiness_of_node(const WaitingPod& pod, NodeSlot node) const;
  // Whether the node has become smaller since the plan began to prepare, and is too small for the
  // pods that are there with the plan's. Those that have no room yet do not count.
  [[nodiscard]] bool has_shrunk(const Plan& plan, NodeSlot node) const;
  [[nodiscard]] bool waits_for_room(const std::string& uid) const;
  [[nodiscard]] Readiness room_of(Id id, const Plan& plan, NodeSlot node);
  // What keeps the plan's pod from the node if those pods are gone: empty, or words for a message.
  // The pods of later plans that make room there do not count.
  [[nodiscard]] std::string_view obstacle(Id id, const Plan& plan, NodeSlot node,
                                          const std::set<std::string>& gone);
  // The same of its quota alone.
  [[nodiscard]] bool quota_allows_without(Id id, const PodRecord& pod, NodeSlot node,
                                          const std::set<std::string>& gone);
  [[nodiscard]] bool quota_allows(const PodRecord& pod, NodeSlot node,
                                  const quota::LedgerTrial& in) const;
  void ends_at(Entry plan, Time end);
  // A pod that has to leave for the plan has until `deadline`.
  void wait_until(Entry plan, Time deadline);
  // The plan waits for no pods to leave any more. `timed_out`: those that have not left are stuck.
  // Plans that count on a pod that is evicted for this one alone, and is not known to be deleted
  // yet, will be undone.
  void stop_waiting_for_room(Entry plan, bool timed_out);
  // What follows when the room is there; nullopt: the bind.
  [[nodiscard]] std::optional<decision::Prepare> prepare(Entry plan, Time now);
  [[nodiscard]] decision::Prepare begin(Entry plan, Preparation wanted, Time now);
  // A late outcome of the part before does not count for the next one.
  Entry renumber(Entry plan);
  // A plan that makes room although there is room for its pod elsewhere will be undone.
  void look_elsewhere(Time now);
  // The plan's pod is of a group that is starting. False: it has failed, and fails alone.
  bool look_at_start(Entry plan, const Readiness& readiness, Time now);
  // The group of that pod has started if all are ready still: the binds are decided.
  void start_if_ready(const std::string& uid, Time now);
  // All plans of the group of that pod, by which the start failed, are undone, the last first.
  void give_up_start(const PodRef& of, const std::string& why, const std::string& why_others,
                     Time now);
  // The start of that pod's group goes on without the pod, if any other has to be ready.
  void start_without(const std::string& uid);
  Entry add(Plan plan, Time end);
  // Removes the plan. Of its writes only what the watches show counts from now on.
  Plan end(Entry plan);
  // The pod has no node any more. It is in no queue.
  WaitingPod& release(PodRecord& record);

  World& world_;
  Finder& finder_;
  Queues& queue_;
  AssumedPods& assumed_;
  PodGroups& groups_;
  std::map<Id, Plan> plans_;  // those in preparation, in the order of their decisions
  std::unordered_map<std::string, Id> of_pod_;  // by uid
  std::set<std::pair<Time, Id>> ends_;
  std::set<Id> due_;                            // must be looked at
  std::map<ObjectKey, std::set<Id>> awaiting_;  // of those that prepare; none is empty
  DecidedTogether decided_;                     // for groups
  Id last_ = 0;
  // Of the plans that make room.
  Departures departures_;
  ChargesBehind behind_;
  std::unordered_multimap<NodeSlot, Id> on_node_;
  RoomElsewhere elsewhere_;
  std::uint64_t quotas_seen_ = 0;  // the ledger's version when plans were last looked at for it
};

}  // namespace sched
