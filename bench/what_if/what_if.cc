#include "bench/what_if/what_if.h"

#include "bench/demo/outcome_table.h"
#include "bench/what_if/answers.h"
#include "bench/what_if/manifests.h"
#include "k8s-client/auth/cluster_access.h"
#include "k8s-client/http/asio_transport.h"
#include "k8s-client/http/event_loop.h"
#include "plugins/registry.h"
#include "scheduler/config/config.h"
#include "scheduler/engine/engine.h"
#include "scheduler/live/intake.h"

#include <fmt/core.h>

#include <chrono>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <utility>

namespace bench {
namespace {

constexpr std::chrono::minutes kReadLimit{2};

sched::Time wall_clock() {
  return std::chrono::time_point_cast<sched::Time::duration>(std::chrono::system_clock::now());
}

// The intake's name of a kind, for people: pods that failed are read apart from the others.
std::string words_of(const std::string& kind) {
  return kind == "failedpods" ? "pods that have failed" : kind;
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
             // That the cluster lacks an optional kind is none; that it hides one leaves open what
             // would be decided.
             if (sched::live::Intake::is_optional(kind) && !error.is_status(403)) return;
             problem = k8s::with_context(error, "reading " + words_of(kind));
             loop.stop();
           },
       .on_recovered = [](const std::string&) {},
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

int fail(int code, const k8s::Error& error) {
  fmt::print(stderr, "what-if: {}\n", error.message);
  return code;
}

}  // namespace

int run_what_if(const WhatIfOptions& options) {
  auto config = sched::config::load(options.config, plugins::registry());
  if (!config) return fail(2, config.error());
  // First, so that it ends last: the credentials may have a program running on it.
  const auto loop = k8s::make_event_loop();
  auto access = k8s::load_kubeconfig(options.kubeconfig);
  if (!access) return fail(2, access.error());
  std::vector<k8s::Pod> pods;
  std::vector<sched::Event> storage;
  for (const std::string& file : options.files) {
    auto loaded = load_manifests(file, options.namespace_);
    if (!loaded) return fail(2, loaded.error());
    std::move(loaded->pods.begin(), loaded->pods.end(), std::back_inserter(pods));
    std::move(loaded->storage.begin(), loaded->storage.end(), std::back_inserter(storage));
  }
  if (auto good = check_pods(pods); !good) return fail(2, good.error());
  const sched::Time now = wall_clock();
  std::set<std::string> served;
  for (const sched::Profile& profile : config->profiles) served.insert(profile.scheduler_name);
  sched::Engine engine(std::move(config->profiles), config->engine);
  if (auto read = read_cluster(*loop, *access, engine, now); !read) return fail(1, read.error());
  for (const sched::Event& event : storage) engine.apply(event, now);
  const std::vector<Outcome> outcomes = answers(engine, pods, served, now);
  fmt::print("What gpu-scheduler would do now ({}); nothing was written:\n", access->description);
  print_table(std::cout, outcomes);
  return 0;
}

}  // namespace bench
