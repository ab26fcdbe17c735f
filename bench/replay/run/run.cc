#include "bench/replay/run/run.h"

#include "bench/devices/allocator.h"
#include "bench/replay/account/account.h"
#include "bench/replay/account/typical_pods.h"
#include "bench/replay/run/cpu_clock.h"
#include "bench/replay/run/decision_log.h"
#include "bench/replay/run/virtual_run.h"
#include "scheduler/engine/engine.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace bench::replay {
namespace {

// Longer than any trace: waiting pods are woken by events, not to repeat the same message.
constexpr std::chrono::hours kNever{24 * 365 * 1000};

// The end of the run if no pod waits.
Moment horizon_of(const Workload& workload, const RunOptions& options) {
  Moment last{0};
  for (const Arrival& arrival : workload.arrivals) {
    last = std::max(last, arrival.leaves.value_or(arrival.at));
  }
  if (workload.ends) last = *workload.ends;
  if (options.until) last = std::min(last, *options.until);
  return last;
}

AccountOptions account_options(const Workload& workload, const RunOptions& options,
                               const std::vector<sched::TypicalPod>& kinds) {
  return {.over_time = is_over_time(workload),
          .measure_from = workload.measure_from,
          .horizon = horizon_of(workload, options),
          .snapshots_at = options.snapshots_at,
          .typical_pods = covering(kinds)};
}

sched::EngineOptions engine_options(sched::EngineOptions engine, const Trace& trace,
                                    const RunOptions& options,
                                    const std::vector<sched::TypicalPod>& kinds) {
  if (trace.devices_apart) engine.devices = device_allocator();
  engine.max_unschedulable_wait = kNever;
  if (options.typical_pods == TypicalPods::kTrace) engine.typical_pods = kinds;
  return engine;
}

}  // namespace

std::string_view text_of(sched::TieBreak::Order order) {
  switch (order) {
    case sched::TieBreak::Order::kFirstNode:
      return "first-node";
    case sched::TieBreak::Order::kShuffledNodes:
      return "shuffled-nodes";
    case sched::TieBreak::Order::kFewestGpusFirst:
      return "fewest-gpus-first";
    case sched::TieBreak::Order::kRandom:
      return "random";
  }
  return "";
}

k8s::Result<Result> run(const Trace& trace, const Workload& workload, const Policy& policy,
                        const sched::Registry& registry, const RunOptions& options) {
  const double begin = cpu_seconds();
  if (options.until && workload.measure_from > Moment{0} &&
      *options.until <= workload.measure_from) {
    return k8s::config_error(
        "--until ends the run before its warm-up: there is nothing to measure");
  }
  auto config = configure(policy, registry, options.seed);
  if (!config) return tl::unexpected<k8s::Error>(std::move(config.error()));
  const std::string scheduler_name = config->profiles.front().scheduler_name;
  const auto tie_break = config->profiles.front().tie_break.order;

  const std::vector<sched::TypicalPod> kinds = kinds_of(trace);
  sched::Engine engine(std::move(config->profiles),
                       engine_options(config->engine, trace, options, kinds));
  Account account(account_options(workload, options, kinds));
  std::optional<DecisionLog> log;
  if (options.decisions != nullptr) {
    log.emplace(*options.decisions, trace.name, policy.name, options.seed);
  }
  std::optional<QuotaSteps> quota_steps;
  if (options.quotas != nullptr) {
    quota_steps.emplace(is_over_time(workload) ? in_hours(horizon_of(workload, options))
                                               : static_cast<double>(workload.arrivals.size()));
  }
  VirtualRun virtual_run({.trace = trace,
                          .workload = workload,
                          .options = options,
                          .scheduler_name = scheduler_name,
                          .site_labels = config->engine.site_labels,
                          .engine = engine,
                          .account = account,
                          .quotas = quota_steps ? &*quota_steps : nullptr,
                          .log = log ? &*log : nullptr});
  const bool finished = virtual_run.run();

  Result result = account.result();
  if (quota_steps) result.quota_steps = quota_steps->steps();
  result.trace = trace.name;
  result.policy = policy.name;
  result.tie_break = text_of(tie_break);
  result.seed = options.seed;
  result.interrupted = !finished;
  result.decisions = virtual_run.decisions();
  result.seconds = cpu_seconds() - begin;
  return result;
}

}  // namespace bench::replay
