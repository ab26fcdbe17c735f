// Pods that wait for MIG instances, idle nodes → advice how to cut these.
#include "scheduler/engine/repartition/trials.h"
#include "scheduler/engine/state.h"
#include "scheduler/gpu/mig/plan.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

namespace sched {
namespace {

// Pods that are looked at: in all, and of one shape.
constexpr std::size_t kMostPods = 64;
constexpr std::size_t kMostAlike = 32;

}  // namespace

std::vector<const WaitingPod*> Engine::State::waiting_for_instances() {
  std::vector<const WaitingPod*> pods;
  for (const WaitingPod* pod : queue_.pods()) {
    if (pod->place == QueuePlace::kParked && asks_for_instances(*pod->shape)) pods.push_back(pod);
  }
  std::sort(pods.begin(), pods.end(),
            [](const WaitingPod* a, const WaitingPod* b) { return a->order < b->order; });
  std::map<ShapeId, std::size_t> alike;
  std::vector<const WaitingPod*> looked_at;
  for (const WaitingPod* pod : pods) {
    if (looked_at.size() == kMostPods) break;
    if (++alike[pod->shape.id()] > kMostAlike) continue;
    // Instances would not help a pod whose quota is used up.
    if (pod->queue != kMainQueue && search(*pod).admission.refuses()) continue;
    looked_at.push_back(pod);
  }
  return looked_at;
}

RepartitionAdvice::Input Engine::State::repartition_input() const {
  return {.nodes = nodes_.changes().end(),
          .quotas = ledger_.version(),
          .pods = queue_.unschedulable(),
          .arrivals = arrivals_,
          .waits = repartitions_.waits()};
}

std::optional<Time> Engine::State::next_advice() const {
  return repartitions_.due(repartition_input());
}

std::optional<Decision> Engine::State::advise(Time now) {
  if (const auto due = next_advice(); !due || *due > now) return std::nullopt;
  if (auto advice = repartitions_.next()) return advice;

  const std::vector<const WaitingPod*> pods = waiting_for_instances();
  const PrepareContext context{names_, statistics_.last()};
  std::vector<decision::MigRepartition> found;
  if (!pods.empty()) {
    const RepartitionTrials trials(nodes_, profiles_, context, pods);
    const auto steps = gpu::mig::plan(trials.nodes(), trials.wanted(), pods.size(),
                                      [&](std::size_t node, const auto& to, const auto& waiting) {
                                        return trials.fits(node, to, waiting);
                                      });
    for (const gpu::mig::Repartition& step : steps) {
      decision::MigRepartition advice{
          .scheduler_name = pods[step.pods.front()]->pod.spec.scheduler_name,
          .node = trials.facts(step.node).name,
          .from = trials.nodes()[step.node].configuration,
          .to = step.to.name,
          .pods = {},
          .cost = trials.cost(step.node)};
      for (const std::size_t pod : step.pods) advice.pods.push_back(ref_of(pods[pod]->pod));
      found.push_back(std::move(advice));
    }
  }
  repartitions_.found(std::move(found), !pods.empty(), repartition_input(), now);
  return repartitions_.next();
}

}  // namespace sched
