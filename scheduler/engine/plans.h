// Plans: what was decided for a pod, from the choice of its node until its bind is known to have
// succeeded, or everything is undone.
//
//   ┌───────── prepares ──────────┐
//   writes ───▶ waits until ready ───▶ bind ───▶ bound
//      │               │                │
//      └───────────────┴────────────────┴──▶ undone in reverse; the pod backs off, then is active
//
// If nothing must be done before the bind, the bind is the whole plan: it leaves the engine at
// once, and there is no entry here. During the whole plan the pod is assumed on its node, and
// charged.
//
// The engine decides each part, and the outcome of a part is an event. The shell, which carries
// parts out, does not depend on their order. So a plan that waits for hours is recorded and
// replayed as everything else is, and continues or ends by what the watches show. What was already
// written stays when a plan is undone, as with kube-scheduler; the next process finds it.
#pragma once

#include "scheduler/engine/decision.h"
#include "scheduler/engine/line/waking.h"
#include "scheduler/engine/world/world.h"
#include "scheduler/framework/preparation.h"
#include "scheduler/queue/queues.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sched {

class Plans {
 public:
  // All outlive it.
  Plans(World& world, Queues& queue, Waking& waking)
      : world_(world), queue_(queue), waking_(waking) {}

  // What the constraints require before the pod is bound there; nullopt: nothing, and the bind is
  // the whole plan.
  [[nodiscard]] std::optional<Preparation> preparation_for(const WaitingPod& pod,
                                                           NodeSlot node) const;
  // Starts the plan of a pod that has just been assumed on its node. Returns its first part.
  [[nodiscard]] decision::Prepare begin(decision::Bind bind, Preparation wanted, Time now);

  // The outcome of a part. For bind_failed() the pod is assumed.
  void on(const event::Prepared& event);
  void bind_failed(PodRecord& record, const event::BindFailed& event, Time now);

  // The cluster has changed: plans may have become ready, or may fail.
  void look_again() { looked_until_ = 0; }
  // The pod is gone, or was bound by another scheduler.
  void drop(const std::string& uid);
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
    std::vector<ObjectWrite> writes;
    bool written = false;
    Time end{};           // undone if it is not ready by then
    std::string failure;  // not empty: the plan will be undone
  };

  void look_from(Id plan) { looked_until_ = std::min(looked_until_, plan - 1); }
  [[nodiscard]] Readiness readiness_of(const Plan& plan, Time now) const;
  // Removes the plan. Of its writes only what the watches show counts from now on.
  Plan end(std::map<Id, Plan>::iterator plan);
  // The pod is pending again. `counts`: the failure makes its back-off longer.
  void undo(PodRecord& record, bool counts, Time now);
  [[nodiscard]] Time end_of_backoff(const WaitingPod& waiting, Time now) const;

  World& world_;
  Queues& queue_;
  Waking& waking_;
  std::map<Id, Plan> plans_;  // those in preparation, in the order of their decisions
  std::unordered_map<std::string, Id> of_pod_;  // by uid
  std::set<std::pair<Time, Id>> ends_;
  Id last_ = 0;
  Id looked_until_ = 0;  // plans after this one must be looked at
};

}  // namespace sched
