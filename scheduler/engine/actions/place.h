// Decides on the pod that has the next turn: a bind, or the reason why it waits.
#pragma once

#include "scheduler/engine/decision.h"
#include "scheduler/engine/finder/finder.h"
#include "scheduler/engine/line/assumed_pods.h"
#include "scheduler/engine/line/holds.h"
#include "scheduler/engine/line/quota_search.h"
#include "scheduler/engine/plans/plans.h"
#include "scheduler/engine/repartition/advice.h"
#include "scheduler/engine/report/fit_reports.h"
#include "scheduler/engine/report/quota_words.h"
#include "scheduler/engine/world/world.h"
#include "scheduler/queue/queues.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sched {

// The parts of the engine that it uses; they outlive it.
struct PlaceParts {
  World& world_;
  Finder& finder_;
  Queues& queue_;
  Holds& holds_;
  QuotaSearch& search_;
  AssumedPods& assumed_;
  Plans& plans_;
  const QuotaWords& words_;
  RepartitionAdvice& repartitions_;
};

class Place : private PlaceParts {
 public:
  explicit Place(const PlaceParts& parts)
      : PlaceParts(parts), reports_(world_.nodes, world_.names) {}

  // Decides on the pod and takes it out of its place in the queue. Nullopt: it waits, and there is
  // nothing new to report.
  [[nodiscard]] std::optional<Decision> attempt(WaitingPod& pod, Time now);
  // Puts the pod, which is in no queue, on that node, which was chosen among those of the scope.
  // nullopt: the node does not take it, and nothing has changed.
  [[nodiscard]] std::optional<Decision> assume_on(WaitingPod& pod, const Scope& scope,
                                                  NodeSlot node, Time now);

 private:
  [[nodiscard]] std::optional<Decision> attempt_by_quota(WaitingPod& pod, Time now);
  [[nodiscard]] Ruling ruling_for(WaitingPod& pod, Time now);
  // Assumes the pod on the best node, or on an equally good one if the profile draws / on the node
  // that it holds / on that node.
  [[nodiscard]] std::optional<Decision> assume_best(WaitingPod& pod, const ScoreCache& answers,
                                                    Best best, const Where& where, Time now);
  [[nodiscard]] std::optional<Decision> assume_held(WaitingPod& pod, Time now);
  [[nodiscard]] std::optional<Decision> assume(WaitingPod& pod, const ScoreCache& answers,
                                               const Best& on, Time now);
  [[nodiscard]] std::vector<gpu::DeviceShare> devices_for(const PodShape& shape,
                                                          const ScoreCache& answers,
                                                          NodeSlot node) const;
  // No node takes the pod / a constraint refuses it / its quota has no room / in a Strict quota,
  // another pod has its turn first.
  [[nodiscard]] decision::Unschedulable park(WaitingPod& pod, const Where& where,
                                             WaitsFor waits_for, Time now);
  // Adds why no node of `where` takes the pod.
  void word(decision::Unschedulable& refusal, const WaitingPod& pod, const Where& where, Time now);
  [[nodiscard]] std::optional<Decision> refuse(WaitingPod& pod, Objection objection, Time now);
  [[nodiscard]] Decision with_quota_words(decision::Unschedulable told,
                                          const WaitingPod& pod) const;
  [[nodiscard]] Decision over_quota(WaitingPod& pod, Time now);
  [[nodiscard]] Decision wait_for_turn(WaitingPod& pod, Time now);
  [[nodiscard]] decision::Unschedulable quota_refusal(WaitingPod& pod, std::string message);
  // A new report about the pod; it has only the constraints' notes yet.
  [[nodiscard]] decision::Unschedulable refusal_of(WaitingPod& pod) const;

  FitReports reports_;
  std::uint64_t draws_ = 0;  // random tie-breaks so far
};

}  // namespace sched
