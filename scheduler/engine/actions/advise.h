// Advises how idle nodes should be partitioned into MIG instances for waiting pods that ask for
// some. Changes nothing.
#pragma once

#include "scheduler/engine/decision.h"
#include "scheduler/engine/finder/finder.h"
#include "scheduler/engine/line/holds.h"
#include "scheduler/engine/line/quota_search.h"
#include "scheduler/engine/repartition/advice.h"
#include "scheduler/engine/world/world.h"
#include "scheduler/queue/queues.h"

#include <optional>
#include <vector>

namespace sched {

class Advise {
 public:
  // All borrowed things outlive the action.
  Advise(const World& world, const Finder& finder, const Queues& queue, const Holds& holds,
         QuotaSearch& search, RepartitionAdvice& repartitions)
      : world_(world),
        finder_(finder),
        queue_(queue),
        holds_(holds),
        search_(search),
        repartitions_(repartitions) {}

  // The next advice that is not reported yet, after a search if one is due.
  [[nodiscard]] std::optional<Decision> next(Time now);
  // When next() will have something to do; nullopt: not before an event.
  [[nodiscard]] std::optional<Time> due() const { return repartitions_.due(input()); }

 private:
  [[nodiscard]] RepartitionAdvice::Input input() const;
  // The pods, in the order of their turns, that ask for MIG instances and are parked because no
  // node takes them.
  [[nodiscard]] std::vector<const WaitingPod*> waiting_for_instances() const;
  // Of these, some of those that might start if a node were repartitioned.
  [[nodiscard]] std::vector<const WaitingPod*> to_look_at(
      const std::vector<const WaitingPod*>& waiting);

  const World& world_;
  const Finder& finder_;
  const Queues& queue_;
  const Holds& holds_;
  QuotaSearch& search_;
  RepartitionAdvice& repartitions_;
};

}  // namespace sched
