#include "scheduler/engine/actions/advise.h"

#include "scheduler/engine/repartition/trials.h"
#include "scheduler/gpu/mig/repartitions.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

namespace sched {
namespace {

// How many pods are looked at: in all, and of one shape.
constexpr std::size_t kMostPods = 64;
constexpr std::size_t kMostAlike = 32;

}  // namespace

std::vector<const WaitingPod*> Advise::waiting_for_instances() const {
  std::vector<const WaitingPod*> pods;
  for (const Entity* entity : queue_.entities()) {
    // It is not known whether instances would help a pod for which nodes are ruled out, or a group,
    // which needs several at once.
    if (entity->place != QueuePlace::kParked || entity->apart.any() || entity->is_group) continue;
    const WaitingPod& pod = pod_of(*entity);
    if (asks_for_instances(*pod.shape)) pods.push_back(&pod);
  }
  std::sort(pods.begin(), pods.end(),
            [](const WaitingPod* a, const WaitingPod* b) { return a->order < b->order; });
  return pods;
}

std::vector<const WaitingPod*> Advise::to_look_at(const std::vector<const WaitingPod*>& waiting) {
  std::map<ShapeId, std::size_t> alike;
  std::map<QueueId, std::size_t> of_quota;
  std::vector<const WaitingPod*> looked_at;
  for (const WaitingPod* pod : waiting) {
    if (looked_at.size() == kMostPods) break;
    if (++alike[pod->shape.id()] > kMostAlike) continue;
    if (pod->queue != kMainQueue) {
      // Instances do not help a pod if its quota is used up.
      if (search_.find(*pod).admission.refuses()) continue;
      // Nor if it must not pass one that they do not help.
      std::size_t& before = of_quota[pod->queue];
      if (search_.must_start_before(*pod) > before) continue;
      ++before;
    }
    looked_at.push_back(pod);
  }
  return looked_at;
}

RepartitionAdvice::Input Advise::input() const {
  return {.nodes = world_.nodes.changes().end(),
          .quotas = world_.ledger.version(),
          .pods = queue_.unschedulable(),
          .arrivals = world_.arrivals,
          .waits = repartitions_.waits()};
}

std::optional<Decision> Advise::next(Time now) {
  if (const auto when = due(); !when || *when > now) return std::nullopt;
  if (auto advice = repartitions_.next()) return advice;

  const std::vector<const WaitingPod*> all = waiting_for_instances();
  const std::vector<const WaitingPod*> pods = to_look_at(all);
  const PrepareContext context{world_.names, world_.statistics.last()};
  std::vector<decision::MigRepartition> found;
  if (!pods.empty()) {
    const RepartitionTrials trials(world_, finder_, holds_, context, pods);
    const auto steps = gpu::mig::repartitions(
        trials.nodes(), trials.wanted(), pods.size(),
        [&](std::size_t node, const auto& to, const auto& waiting, const auto& before) {
          return trials.fits(node, to, waiting, before);
        });
    for (const gpu::mig::Repartition& step : steps) {
      decision::MigRepartition advice{
          .scheduler_name = pods[step.pods.front()]->pod.spec.scheduler_name,
          .node = trials.facts(step.node).name,
          .from = trials.nodes()[step.node].configuration,
          .to = step.to.name,
          .pods = {},
          .cost = trials.cost(step.node),
          .to_go = trials.nodes()[step.node].occupants};
      for (const std::size_t pod : step.pods) advice.pods.push_back(ref_of(pods[pod]->pod));
      found.push_back(std::move(advice));
    }
  }
  // Also those that are not looked at: they may be next time, without a turn before that.
  repartitions_.found(std::move(found), !all.empty(), input(), now);
  return repartitions_.next();
}

}  // namespace sched
