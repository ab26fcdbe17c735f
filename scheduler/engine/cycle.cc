// State → the next decision.
#include "scheduler/engine/repartition/trials.h"
#include "scheduler/engine/report/fit_error.h"
#include "scheduler/engine/sentences.h"
#include "scheduler/engine/state.h"
#include "scheduler/framework/free_devices.h"
#include "scheduler/gpu/choose_devices.h"
#include "scheduler/quota/charged_as.h"

#include <utility>

namespace sched {

std::optional<Decision> Engine::State::step(Time now) {
  if (!synced_) return std::nullopt;
  end_backoffs(now);
  if (auto foreign = foreign_.next()) return *std::move(foreign);
  if (auto news = next_node_news()) return news;

  queue_.advance(now);
  renew_holds(now);
  wake_for_quota();
  if (openings_seen_ != nodes_.openings()) {
    openings_seen_ = nodes_.openings();
    queue_.nodes_opened();
  }
  while (WaitingPod* pod = queue_.next()) {
    if (auto decision = attempt(*pod, now)) return decision;
  }
  // Behind the binds: after a start there may be one for each node.
  if (auto complaint = complaints_.next()) return *std::move(complaint);
  return advise(now);
}

std::optional<Decision> Engine::State::attempt(WaitingPod& pod, Time now) {
  if (pod.queue != kMainQueue) return attempt_by_quota(pod, now);
  const ScoreCache& cache = caches_.get(pod.profile, pod.shape);
  // A shape that no node can ever take needs no second opinion.
  if (!cache.prepared().rejection()) {
    if (auto objection = objection_to(pod.pod, profiles_[pod.profile])) {
      return refuse(pod, *objection->by, std::move(objection->reason), now);
    }
  }
  return cache.feasible() > 0 ? assume(pod, cache) : park(pod, now);
}

Decision Engine::State::assume(WaitingPod& pod, const ScoreCache& cache) {
  return assume_on(pod, cache, cache.draws() ? cache.draw(++draws_) : cache.best());
}

Decision Engine::State::assume_on(WaitingPod& pod, const ScoreCache& cache, NodeSlot node) {
  decision::Bind bind{.pod = ref_of(pod.pod),
                      .scheduler_name = pod.pod.spec.scheduler_name,
                      .generation = pod.pod.metadata.generation,
                      .node = nodes_.name(node),
                      .devices = devices_for(*pod.shape, cache, node),
                      .charged_as = {},
                      .total_score = cache.total(node),
                      .scores = cache.scores(node),
                      .feasible_nodes = cache.feasible(),
                      .all_nodes = nodes_.size(),
                      .attempts = ++pod.attempts,
                      .queued_since = pod.queued_since};
  // A note that somebody has written before is replaced.
  if (!pod.demand.is_none() && (ledger_.in_force() || quota::has_note(pod.pod))) {
    bind.charged_as = nodes_.facts(node).gpu.product.name;
  }
  queue_.remove(pod);
  pod.last_refusal.clear();
  Claim claim = claim_of(*pod.shape);
  claim.devices = bind.devices;
  PodRecord& record = pods_.at(bind.pod.uid);
  record.assume(nodes_, node, std::move(claim));
  charge(record, pod.pod, pod.demand, bind.charged_as.value_or(""));
  tell_assumed(pod, bind.node, kBoundPodChanged);
  return bind;
}

std::vector<gpu::DeviceShare> Engine::State::devices_for(const PodShape& shape,
                                                         const ScoreCache& cache,
                                                         NodeSlot node) const {
  const NodeView view = nodes_.view(node);
  if (view.facts.gpu_devices == 0 || shape.gpu.is_none()) return {};
  if (shape.gpu.is_one_piece()) {
    for (const PreparedScore& score : cache.prepared().scores()) {
      if (!score.score) continue;
      if (const auto share = score.score->choose_device(view)) return {*share};
    }
  }
  return gpu::choose_devices(shape.gpu, devices_of(view)).value_or(std::vector<gpu::DeviceShare>{});
}

Decision Engine::State::park(WaitingPod& pod, Time now, Confinement confinement,
                             WaitsFor waits_for) {
  const FitReport& report = caches_.report(pod.profile, pod.shape, confinement);
  decision::Unschedulable refusal{.pod = ref_of(pod.pod),
                                  .scheduler_name = pod.pod.spec.scheduler_name,
                                  .generation = pod.pod.metadata.generation,
                                  .message = report.message,
                                  .details = report.details,
                                  .plugins = report.plugins,
                                  .attempts = ++pod.attempts};
  refusal.details = joined(std::move(refusal.details), notes(pod.profile, pod.pod));
  pod.last_refusal.clear();
  if (!options_.gpu_devices && asks_for_instances(*pod.shape)) repartitions_.pod_waits();
  queue_.park(pod, waits_for, now + options_.max_unschedulable_wait);
  return refusal;
}

std::optional<Decision> Engine::State::refuse(WaitingPod& pod, const ClusterConstraint& by,
                                              std::string objection, Time now) {
  queue_.refuse(pod, by.wakes_on(), now + options_.max_unschedulable_wait);
  // Woken, but nothing new to say: a change that concerns others must not repeat everybody's words.
  if (pod.last_refusal == objection) return std::nullopt;
  decision::Unschedulable refusal{.pod = ref_of(pod.pod),
                                  .scheduler_name = pod.pod.spec.scheduler_name,
                                  .generation = pod.pod.metadata.generation,
                                  .message = fit_error(nodes_.size(), objection),
                                  .details = notes(pod.profile, pod.pod),
                                  .plugins = {std::string(by.name())},
                                  .attempts = ++pod.attempts};
  pod.last_refusal = std::move(objection);
  return refusal;
}

}  // namespace sched
