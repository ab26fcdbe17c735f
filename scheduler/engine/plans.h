// Plans: what was decided for a pod, from the choice of its node until its bind is known to have
// gone through, or everything is undone.
//
//   ┌───────── prepares ──────────┐
//   writes ───▶ waits until ready ───▶ bind ───▶ bound
//      │               │                │
//      └───────────────┴────────────────┴──▶ undone in reverse; the pod backs off, then has its
//      turn
//
// Where nothing has to be done before it, the bind is the whole plan: it leaves the engine at once,
// and there is no entry here. All along the pod is assumed on its node, and charged.
//
// The engine decides each part, and what came of it is an event: the shell, which carries parts
// out, knows no order between them. So a plan that waits for hours is recorded and replayed as
// everything else is, and goes on or ends by what the watches show. What was written already stays
// when a plan is undone, as with kube-scheduler; a process that comes after this one finds it.
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

  // What the constraints want done before the pod is bound there; nullopt: nothing, and its bind is
  // the plan.
  [[nodiscard]] std::optional<Preparation> preparation_for(const WaitingPod& pod,
                                                           NodeSlot node) const;
  // The pod of the bind has just been assumed there. What comes first.
  [[nodiscard]] decision::Prepare begin(decision::Bind bind, Preparation wanted, Time now);

  // What came of a part. The bind of that pod, which is assumed, has failed.
  void on(const event::Prepared& event);
  void bind_failed(PodRecord& record, const event::BindFailed& event, Time now);

  // The cluster has changed: plans may have become ready, or fail.
  void look_again() { looked_until_ = 0; }
  // The pod is gone, or was bound by somebody else.
  void drop(const std::string& uid);
  // Whether the pod has a node, and its bind has not left the engine yet.
  [[nodiscard]] bool prepares(const std::string& uid) const { return of_pod_.contains(uid); }

  // The next part of a plan, or the words of one that was undone; nullopt: there is none now.
  [[nodiscard]] std::optional<Decision> next(Time now);
  // When there will be one although nothing happens; nullopt: never.
  [[nodiscard]] std::optional<Time> next_end() const;

 private:
  using Id = std::uint64_t;
  struct Plan {
    decision::Bind bind;
    std::vector<ObjectWrite> writes;
    bool written = false;
    Time end{};           // undone when it is not ready by then
    std::string failure;  // not empty: to be undone
  };

  void look_from(Id plan) { looked_until_ = std::min(looked_until_, plan - 1); }
  [[nodiscard]] Readiness readiness_of(const Plan& plan, Time now) const;
  // The plan is over; its writes count no more but for what the watches show of them.
  Plan end(std::map<Id, Plan>::iterator plan);
  // The pod is pending again. `counts`: what failed makes its back-off longer.
  void undo(PodRecord& record, bool counts, Time now);
  [[nodiscard]] Time end_of_backoff(const WaitingPod& waiting, Time now) const;

  World& world_;
  Queues& queue_;
  Waking& waking_;
  std::map<Id, Plan> plans_;  // those that prepare, in the order of their decisions
  std::unordered_map<std::string, Id> of_pod_;  // by uid
  std::set<std::pair<Time, Id>> ends_;
  Id last_ = 0;
  Id looked_until_ = 0;  // plans after this one have to be looked at
};

}  // namespace sched
