#include "scheduler/engine/line/assumed_pods.h"

#include "scheduler/quota/charged_as.h"

#include <algorithm>
#include <utility>

namespace sched {

void AssumedPods::assume(WaitingPod& pod, NodeSlot node, decision::Bind& bind, Time now) {
  bind.pod = ref_of(pod.pod);
  bind.scheduler_name = pod.pod.spec.scheduler_name;
  bind.generation = pod.pod.metadata.generation;
  bind.node = world_.nodes.name(node);
  bind.all_nodes = world_.nodes.size();
  bind.attempts = ++pod.attempts;
  bind.queued_since = pod.queued_since;
  // A note that the pod has already is replaced.
  if (!pod.demand.is_none() && (world_.ledger.in_force() || quota::has_note(pod.pod))) {
    bind.charged_as = world_.nodes.facts(node).gpu.product.name;
    bind.charged_at = world_.next_charge(now);
  }
  queue_.remove(pod);
  pod.last_refusal.clear();
  Claim claim = claim_of(*pod.shape);
  claim.devices = bind.devices;
  PodRecord& record = world_.pods.at(bind.pod.uid);
  record.assume(world_.nodes, node, occupant_of(pod.pod, std::move(claim), pod.pod_class, true));
  world_.charge(record, pod.pod, pod.demand,
                bind.charged_as ? quota::ChargeNote{*bind.charged_as, bind.charged_at}
                                : quota::no_note(pod.pod));
  groups_.has_node(pod.pod, pod.profile);
  waking_.assumed(pod, bind.node);
}

WaitingPod& AssumedPods::release(PodRecord& record) {
  WaitingPod& waiting = *record.waiting();
  world_.budgets.stays({*waiting.pod_class, waiting.pod.metadata.name});
  record.forget();
  groups_.was_not_bound(waiting.pod.metadata.uid);
  waking_.cluster_changed(BoundPodGone{waiting.pod.metadata.uid});
  waiting.has_shape(world_.templates.shape(waiting.pod));  // the reason is in names_in_use.h
  waiting.queue = waking_.queue_for(waiting);
  return waiting;
}

void AssumedPods::back_off(WaitingPod& waiting, bool counts, Time now) {
  if (counts) ++waiting.failed_binds;
  if (!waiting.pod.spec.scheduling_gates.empty()) {
    queue_.gate(waiting, QueueEvent::kAttemptFailure);
  } else {
    queue_.back_off(waiting, end_of_backoff(waiting, now));
  }
}

Time AssumedPods::end_of_backoff(const WaitingPod& waiting, Time now) const {
  auto wait = world_.options.initial_backoff;
  for (int i = 1; i < waiting.failed_binds && wait < world_.options.max_backoff; ++i) wait *= 2;
  return now + std::min(wait, world_.options.max_backoff);
}

}  // namespace sched
