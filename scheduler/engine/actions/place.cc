#include "scheduler/engine/actions/place.h"

#include "scheduler/engine/repartition/trials.h"
#include "scheduler/engine/report/fit_error.h"
#include "scheduler/engine/sentences.h"
#include "scheduler/framework/free_devices.h"
#include "scheduler/gpu/choose_devices.h"
#include "scheduler/quota/charged_as.h"

#include <utility>

namespace sched {

std::optional<Decision> Place::attempt(WaitingPod& pod, Time now) {
  if (pod.queue != kMainQueue) return attempt_by_quota(pod, now);
  const ScoreCache& cache = finder_.refresh(pod.profile, pod.shape);
  // A shape that no node can ever take is told that, whatever constraints say.
  if (!cache.prepared().rejection()) {
    if (auto objection = world_.objection_to(pod.pod, pod.profile)) {
      return refuse(pod, *std::move(objection), now);
    }
  }
  return cache.feasible() > 0 ? assume(pod, cache) : park(pod, now);
}

std::optional<Decision> Place::attempt_by_quota(WaitingPod& pod, Time now) {
  if (search_.must_wait_for_turn(pod)) {
    const bool hopeless = world_.ledger.never_fits(quota_of(pod), pod.demand);
    return hopeless ? over_quota(pod, now) : wait_for_turn(pod, now);
  }
  const QuotaSearch::Found found = search_.find(pod);
  if (found.admission.refuses()) return over_quota(pod, now);
  if (auto objection = world_.objection_to(pod.pod, pod.profile)) {
    const ScoreCache& cache = finder_.refresh(pod.profile, pod.shape, found.scope);
    if (!cache.prepared().rejection()) {
      return refuse(pod, *std::move(objection), now);
    }
  }
  if (found.held_node) return assume_held(pod);
  if (found.cache != nullptr) return assume(pod, *found.cache);

  if (holds_.of(pod) != nullptr && !found.admission.within.empty()) {
    holds_.hold_node(pod, search_.scope_of(found.admission.within));
    // The hold itself has changed a node.
    static_cast<void>(finder_.refresh(pod.profile, pod.shape, found.scope));
  }
  const std::string words = words_.of(pod);
  Decision told = park(pod, now, found.scope, found.waits_for());
  auto& refusal = std::get<decision::Unschedulable>(told);
  refusal.details = joined(std::move(refusal.details), words);
  return told;
}

Decision Place::assume(WaitingPod& pod, const ScoreCache& cache) {
  return assume_on(pod, cache, cache.draws() ? cache.draw(++draws_) : cache.best());
}

Decision Place::assume_held(WaitingPod& pod) {
  const NodeSlot node = holds_.of(pod)->on->node();
  holds_.release(pod.queue);
  return assume_on(pod, finder_.refresh(pod.profile, pod.shape), node);
}

Decision Place::assume_on(WaitingPod& pod, const ScoreCache& cache, NodeSlot node) {
  decision::Bind bind{.pod = ref_of(pod.pod),
                      .scheduler_name = pod.pod.spec.scheduler_name,
                      .generation = pod.pod.metadata.generation,
                      .node = world_.nodes.name(node),
                      .devices = devices_for(*pod.shape, cache, node),
                      .charged_as = {},
                      .total_score = cache.total(node),
                      .scores = cache.scores(node),
                      .feasible_nodes = cache.feasible(),
                      .all_nodes = world_.nodes.size(),
                      .attempts = ++pod.attempts,
                      .queued_since = pod.queued_since};
  // A note that the pod carries already is replaced.
  if (!pod.demand.is_none() && (world_.ledger.in_force() || quota::has_note(pod.pod))) {
    bind.charged_as = world_.nodes.facts(node).gpu.product.name;
  }
  queue_.remove(pod);
  pod.last_refusal.clear();
  Claim claim = claim_of(*pod.shape);
  claim.devices = bind.devices;
  PodRecord& record = world_.pods.at(bind.pod.uid);
  record.assume(world_.nodes, node, occupant_of(pod.pod, std::move(claim), true));
  world_.charge(record, pod.pod, pod.demand, bind.charged_as.value_or(""));
  waking_.assumed(pod, bind.node, kBoundPodChanged);
  return bind;
}

std::vector<gpu::DeviceShare> Place::devices_for(const PodShape& shape, const ScoreCache& cache,
                                                 NodeSlot node) const {
  const NodeView view = world_.nodes.view(node);
  if (view.facts.gpu_devices == 0 || shape.gpu.is_none()) return {};
  if (shape.gpu.is_one_piece()) {
    for (const PreparedScore& score : cache.prepared().scores()) {
      if (!score.score) continue;
      if (const auto share = score.score->choose_device(view)) return {*share};
    }
  }
  return gpu::choose_devices(shape.gpu, devices_of(view)).value_or(std::vector<gpu::DeviceShare>{});
}

Decision Place::park(WaitingPod& pod, Time now, const Scope& scope, WaitsFor waits_for) {
  const FitReport& report = finder_.report(pod.profile, pod.shape, scope);
  decision::Unschedulable refusal{.pod = ref_of(pod.pod),
                                  .scheduler_name = pod.pod.spec.scheduler_name,
                                  .generation = pod.pod.metadata.generation,
                                  .message = report.message,
                                  .details = report.details,
                                  .plugins = report.plugins,
                                  .attempts = ++pod.attempts};
  refusal.details = joined(std::move(refusal.details), world_.notes(pod.profile, pod.pod));
  pod.last_refusal.clear();
  if (!world_.options.gpu_devices && asks_for_instances(*pod.shape)) repartitions_.pod_waits();
  queue_.park(pod, waits_for, now + world_.options.max_unschedulable_wait);
  return refusal;
}

std::optional<Decision> Place::refuse(WaitingPod& pod, Objection objection, Time now) {
  queue_.refuse(pod, objection.by->wakes_on(), now + world_.options.max_unschedulable_wait);
  // Woken by a change that concerns others: what the pod was told holds still.
  if (pod.last_refusal == objection.reason) return std::nullopt;
  decision::Unschedulable refusal{.pod = ref_of(pod.pod),
                                  .scheduler_name = pod.pod.spec.scheduler_name,
                                  .generation = pod.pod.metadata.generation,
                                  .message = fit_error(world_.nodes.size(), objection.reason),
                                  .details = world_.notes(pod.profile, pod.pod),
                                  .plugins = {std::string(objection.by->name())},
                                  .attempts = ++pod.attempts};
  pod.last_refusal = std::move(objection.reason);
  return refusal;
}

Decision Place::over_quota(WaitingPod& pod, Time now) {
  decision::Unschedulable refusal = quota_refusal(pod, words_.of(pod));
  const bool hopeless = world_.ledger.never_fits(quota_of(pod), pod.demand);
  queue_.park(pod, hopeless ? kWaitsForChange : kWaitsForQuota,
              now + world_.options.max_unschedulable_wait);
  return refusal;
}

Decision Place::wait_for_turn(WaitingPod& pod, Time now) {
  decision::Unschedulable refusal = quota_refusal(pod, words_.behind(pod));
  queue_.park(pod, kWaitsForTurn, now + world_.options.max_unschedulable_wait);
  return refusal;
}

decision::Unschedulable Place::quota_refusal(WaitingPod& pod, std::string message) {
  pod.last_refusal.clear();
  return {.pod = ref_of(pod.pod),
          .scheduler_name = pod.pod.spec.scheduler_name,
          .generation = pod.pod.metadata.generation,
          .message = std::move(message),
          .details = world_.notes(pod.profile, pod.pod),
          .plugins = {std::string(kQuotaPlugin)},
          .attempts = ++pod.attempts,
          .reason = decision::Unschedulable::Reason::kGpuQuotaExceeded};
}

}  // namespace sched
