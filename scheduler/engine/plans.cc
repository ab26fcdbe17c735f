#include "scheduler/engine/plans.h"

#include <algorithm>
#include <iterator>

namespace sched {

std::optional<Preparation> Plans::preparation_for(const WaitingPod& pod, NodeSlot node) const {
  std::optional<Preparation> all;
  for (const ClusterConstraint* constraint : pod.constraints) {
    auto wanted = constraint->preparation_for(pod.pod, world_.nodes.facts(node));
    if (!wanted) continue;
    if (!all) {
      all = std::move(wanted);
      continue;
    }
    all->patience = std::max(all->patience, wanted->patience);
    std::move(wanted->writes.begin(), wanted->writes.end(), std::back_inserter(all->writes));
  }
  return all;
}

decision::Prepare Plans::begin(decision::Bind bind, Preparation wanted, Time now) {
  const Id id = ++last_;
  of_pod_.emplace(bind.pod.uid, id);
  const Time until = now + wanted.patience;
  ends_.emplace(until, id);
  for (const ObjectWrite& write : wanted.writes) world_.tell_constraints(WriteAssumed{write});
  const Plan& plan = plans_
                         .emplace(id, Plan{.bind = std::move(bind),
                                           .writes = std::move(wanted.writes),
                                           .written = false,
                                           .end = until,
                                           .failure = {}})
                         .first->second;
  return {.plan = id,
          .pod = plan.bind.pod,
          .scheduler_name = plan.bind.scheduler_name,
          .node = plan.bind.node,
          .writes = plan.writes};
}

void Plans::on(const event::Prepared& event) {
  const auto found = plans_.find(event.plan);
  if (found == plans_.end()) return;  // it had ended before
  found->second.written = true;
  found->second.failure = event.failure;
  look_from(event.plan);
}

void Plans::bind_failed(PodRecord& record, const event::BindFailed& event, Time now) {
  using Because = event::BindFailed::Because;
  if (event.because == Because::kRefused) {
    record.waiting()->refused_binds.add(event.node, event.message, now);
  }
  undo(record, event.because != Because::kNotSent, now);
}

void Plans::drop(const std::string& uid) {
  if (of_pod_.empty()) return;
  const auto found = of_pod_.find(uid);
  if (found != of_pod_.end()) static_cast<void>(end(plans_.find(found->second)));
}

std::optional<Decision> Plans::next(Time now) {
  if (!ends_.empty() && ends_.begin()->first <= now) {
    look_from(ends_.begin()->second);
  }
  for (auto each = plans_.upper_bound(looked_until_); each != plans_.end();) {
    const auto plan = each++;
    looked_until_ = plan->first;
    Readiness readiness = readiness_of(plan->second, now);
    if (readiness.state == Readiness::State::kWaits) continue;
    decision::Bind bind = end(plan).bind;
    if (readiness.state == Readiness::State::kReady) return bind;
    undo(*world_.pods.find(bind.pod.uid), true, now);
    return decision::NotPrepared{.pod = std::move(bind.pod),
                                 .scheduler_name = std::move(bind.scheduler_name),
                                 .generation = bind.generation,
                                 .node = std::move(bind.node),
                                 .message = std::move(readiness.why)};
  }
  return std::nullopt;
}

std::optional<Time> Plans::next_end() const {
  if (ends_.empty()) return std::nullopt;
  return ends_.begin()->first;
}

Readiness Plans::readiness_of(const Plan& plan, Time now) const {
  using State = Readiness::State;
  if (!plan.failure.empty()) return {State::kFailed, plan.failure};
  const NodeSlot node = world_.nodes.find(plan.bind.node);
  if (node == kNoSlot || !world_.nodes.present(node)) {
    return {State::kFailed, "the node is gone"};
  }
  Readiness all{.state = plan.written ? State::kReady : State::kWaits,
                .why = plan.written ? "" : "the API server has not taken what has to be written"};
  if (plan.written) {
    const WaitingPod& pod = *world_.pods.find(plan.bind.pod.uid)->waiting();
    for (const ClusterConstraint* constraint : pod.constraints) {
      Readiness one = constraint->readiness(pod.pod, world_.nodes.facts(node));
      if (one.state == State::kReady) continue;
      if (one.state == State::kFailed) return one;
      if (all.state == State::kReady) all = std::move(one);
    }
  }
  if (all.state == State::kWaits && now >= plan.end) {
    return {State::kFailed, "waited too long: " + all.why};
  }
  return all;
}

Plans::Plan Plans::end(std::map<Id, Plan>::iterator plan) {
  Plan over = std::move(plan->second);
  of_pod_.erase(over.bind.pod.uid);
  ends_.erase({over.end, plan->first});
  plans_.erase(plan);
  // In reverse order: a later write may depend on an earlier one.
  for (auto write = over.writes.rbegin(); write != over.writes.rend(); ++write) {
    world_.tell_constraints(WriteOver{*write});
  }
  return over;
}

void Plans::undo(PodRecord& record, bool counts, Time now) {
  WaitingPod& waiting = *record.waiting();
  record.forget();
  waking_.cluster_changed(BoundPodGone{waiting.pod.metadata.uid});
  if (counts) ++waiting.failed_binds;
  waiting.has_shape(world_.templates.shape(waiting.pod));  // the reason is in names_in_use.h
  waiting.queue = waking_.queue_for(waiting);
  if (!waiting.pod.spec.scheduling_gates.empty()) {
    queue_.gate(waiting, QueueEvent::kAttemptFailure);
  } else {
    queue_.back_off(waiting, end_of_backoff(waiting, now));
  }
}

Time Plans::end_of_backoff(const WaitingPod& waiting, Time now) const {
  auto wait = world_.options.initial_backoff;
  for (int i = 1; i < waiting.failed_binds && wait < world_.options.max_backoff; ++i) wait *= 2;
  return now + std::min(wait, world_.options.max_backoff);
}

}  // namespace sched
