// Puts waiting pods on their nodes, and takes them back from there.
//
// A pod is assumed on its node from the decision until its bind is known to have succeeded: its
// room is taken there, its quota is charged, its group has started.
#pragma once

#include "scheduler/engine/decision.h"
#include "scheduler/engine/line/pod_groups.h"
#include "scheduler/engine/line/waking.h"
#include "scheduler/engine/world/world.h"
#include "scheduler/queue/queues.h"

namespace sched {

class AssumedPods {
 public:
  // All outlive it.
  AssumedPods(World& world, Queues& queue, Waking& waking, PodGroups& groups)
      : world_(world), queue_(queue), waking_(waking), groups_(groups) {}

  // The pod leaves the queue, and is assumed on that node. Fills in which pod is bound and where;
  // takes the bind's devices.
  void assume(WaitingPod& pod, NodeSlot node, decision::Bind& bind, Time now);
  // The pod, which is assumed on a node, has none any more. It is in no queue.
  WaitingPod& release(PodRecord& record);
  // A pod that was released is pending again, after a back-off. `counts`: the failure makes this
  // back-off and later ones longer.
  void back_off(WaitingPod& waiting, bool counts, Time now);

 private:
  [[nodiscard]] Time end_of_backoff(const WaitingPod& waiting, Time now) const;

  World& world_;
  Queues& queue_;
  Waking& waking_;
  PodGroups& groups_;
};

}  // namespace sched
