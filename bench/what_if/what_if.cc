#include "bench/what_if/what_if.h"

#include "bench/demo/outcome_table.h"
#include "bench/demo/scores_text.h"
#include "bench/what_if/manifests.h"
#include "k8s-client/auth/cluster_access.h"
#include "k8s-client/http/asio_transport.h"
#include "k8s-client/http/event_loop.h"
#include "plugins/registry.h"
#include "scheduler/config/config.h"
#include "scheduler/engine/engine.h"
#include "scheduler/live/intake.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <optional>
#include <utility>

namespace bench {
namespace {

constexpr std::chrono::minutes kReadLimit{2};

sched::Time wall_clock() {
  return std::chrono::time_point_cast<sched::Time::duration>(std::chrono::system_clock::now());
}

// Everything the scheduler would watch, read once into the engine.
k8s::Result<void> read_cluster(k8s::EventLoop& loop, const k8s::ClusterAccess& access,
                               sched::Engine& engine, sched::Time now) {
  const auto transport = k8s::make_asio_transport(loop, access.endpoint, *access.credentials);
  std::optional<k8s::Error> problem;
  bool synced = false;
  sched::live::Intake intake(
      *transport, loop,
      {.on_event = [&](const sched::Event& event) { engine.apply(event, now); },
       .on_pod = [](const k8s::Pod&) {},
       .on_pod_gone = [](const std::string&) {},
       .on_problem =
           [&](const std::string& kind, const k8s::Error& error, std::chrono::milliseconds) {
             // One failed attempt is reason enough to tell a person at a terminal.
             if (sched::live::Intake::is_optional(kind)) return;
             problem = k8s::with_context(error, "reading " + kind);
             loop.stop();
           },
       .on_progress = [](const std::string&) {},
       .on_synced =
           [&] {
             synced = true;
             engine.apply(sched::event::Synced{}, now);
             loop.stop();
           }},
      {});
  const auto limit = loop.after(kReadLimit, [&] { loop.stop(); });
  loop.post([&] { intake.start(std::chrono::milliseconds(0)); });
  loop.run();
  intake.stop();
  if (synced) return {};
  if (problem) return tl::unexpected(*problem);
  return k8s::config_error("the cluster could not be read within 2 minutes");
}

Outcome outcome_of(const sched::decision::Bind& bind) {
  return {.pod = bind.pod.name, .node = bind.node, .scores = scores_text(bind), .message = {}};
}

Outcome outcome_of(const sched::decision::Unschedulable& decision) {
  return {.pod = decision.pod.name, .node = {}, .scores = {}, .message = waiting_text(decision)};
}

// The decisions on `pods`; those on pods that wait in the cluster itself are not ours to tell.
std::vector<Outcome> decide(sched::Engine& engine, const std::vector<k8s::Pod>& pods,
                            sched::Time now) {
  for (const k8s::Pod& pod : pods) engine.apply(sched::event::PodUpserted{pod}, now);
  const auto ours = [&](const sched::PodRef& ref) {
    return std::any_of(pods.begin(), pods.end(),
                       [&](const k8s::Pod& pod) { return pod.metadata.uid == ref.uid; });
  };
  std::vector<Outcome> outcomes;
  while (auto decision = engine.step(now)) {
    if (const auto* bind = std::get_if<sched::decision::Bind>(&*decision)) {
      if (ours(bind->pod)) outcomes.push_back(outcome_of(*bind));
    } else if (const auto* waits = std::get_if<sched::decision::Unschedulable>(&*decision)) {
      if (ours(waits->pod)) outcomes.push_back(outcome_of(*waits));
    } else {
      continue;
    }
  }
  return outcomes;
}

// Pods that the engine never decides on, with the reason.
void add_undecided(const std::vector<k8s::Pod>& pods, std::vector<Outcome>& outcomes) {
  for (const k8s::Pod& pod : pods) {
    const bool decided = std::any_of(outcomes.begin(), outcomes.end(),
                                     [&](const Outcome& o) { return o.pod == pod.metadata.name; });
    if (decided) continue;
    std::string why = pod.spec.scheduling_gates.empty()
                          ? "no profile of the configuration serves schedulerName \"" +
                                pod.spec.scheduler_name + "\""
                          : "Scheduling is blocked due to non-empty scheduling gates";
    outcomes.push_back(
        {.pod = pod.metadata.name, .node = {}, .scores = {}, .message = std::move(why)});
  }
}

int fail(int code, const k8s::Error& error) {
  fmt::print(stderr, "what-if: {}\n", error.message);
  return code;
}

}  // namespace

int run_what_if(const WhatIfOptions& options) {
  auto config = sched::config::load(options.config, plugins::registry());
  if (!config) return fail(2, config.error());
  // First, so that it ends last: the credentials may have a program running on it.
  const auto loop = k8s::make_asio_event_loop();
  auto access = k8s::load_kubeconfig(options.kubeconfig);
  if (!access) return fail(2, access.error());
  std::vector<k8s::Pod> pods;
  for (const std::string& file : options.files) {
    auto loaded = load_pods(file, options.namespace_);
    if (!loaded) return fail(2, loaded.error());
    std::move(loaded->begin(), loaded->end(), std::back_inserter(pods));
  }
  const sched::Time now = wall_clock();
  sched::Engine engine(std::move(config->profiles), config->engine);
  if (auto read = read_cluster(*loop, *access, engine, now); !read) return fail(1, read.error());
  std::vector<Outcome> outcomes = decide(engine, pods, now);
  add_undecided(pods, outcomes);
  fmt::print("What gpu-scheduler would do now ({}); nothing was written:\n", access->description);
  print_table(std::cout, outcomes);
  return 0;
}

}  // namespace bench
