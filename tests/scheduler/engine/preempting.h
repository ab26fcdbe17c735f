// What the tests of preemption share: a cluster whose pods preempt, and pods that may be evicted.
#pragma once

#include "tests/scheduler/engine/quota_cluster.h"
#include "tests/support/catch.h"

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tests {

inline constexpr std::int32_t kLow = 100;
inline constexpr std::int32_t kMid = 500;
inline constexpr std::int32_t kHigh = 1'000;

// The pod with a controller, which makes it anew.
inline k8s::Pod owned(k8s::Pod pod) {
  pod.metadata.owner_references.push_back({.api_version = "apps/v1",
                                           .kind = "ReplicaSet",
                                           .name = "r",
                                           .uid = "r",
                                           .controller = true});
  return pod;
}

// A cluster whose pods preempt as kube-scheduler's do, but for the tie-break.
struct Preempting : QuotaCluster {
  explicit Preempting(sched::Preemption how = {.evicts_bare_pods = false, .violates_budgets = true},
                      std::initializer_list<std::string_view> constraints = {},
                      sched::EngineOptions options = {}) {
    std::vector<sched::Profile> all = profiles(&told_bound);
    all[0].preemption = how;
    for (const std::string_view name : constraints) {
      all[0].constraints.emplace_back(shipped_constraint(name));
    }
    engine = sched::Engine(std::move(all), std::move(options));
    synced();
  }
  // A pod that runs on the node and has a controller; started so many minutes after kStart.
  k8s::Pod runs(std::string_view name, const std::string& on, std::int32_t priority, int gpus,
                int started = 0) {
    k8s::Pod made = owned(our_pod(name).priority(priority).gpus(gpus).on(on).started_at(
        kStart + std::chrono::minutes(started)));
    has(made);
    return made;
  }
  k8s::Pod runs(std::string_view namespace_, std::string_view name, const std::string& on,
                std::int32_t priority, int gpus) {
    k8s::Pod made = owned(in(namespace_, name, gpus).priority(priority).on(on).started_at(kStart));
    has(made);
    return made;
  }
  void terminates(k8s::Pod pod, std::chrono::seconds grace = std::chrono::seconds(30)) {
    pod.metadata.deletion_timestamp = std::chrono::floor<std::chrono::seconds>(now + grace);
    has(pod);
  }
  // The next decisions, and the time at which they are made; none: the engine wakes up no more by
  // then.
  Texts decide_within(std::chrono::milliseconds most) {
    const sched::Time until = now + most;
    while (true) {
      Texts made = decide();
      const auto wakeup = engine.next_wakeup();
      if (!made.empty() || !wakeup || *wakeup > until) return made;
      REQUIRE(*wakeup > now);
      now = *wakeup;
    }
  }
  // The message of the next decision, which is a refusal.
  std::string refusal() {
    const auto made = decisions();
    REQUIRE(made.size() == 1);
    return std::get<sched::decision::Unschedulable>(made[0]).message;
  }
};

// A pod that has no node yet.
inline k8s::Pod wants(int gpus, std::int32_t priority = kHigh, std::string_view name = "p") {
  return our_pod(name).gpus(gpus).priority(priority);
}

}  // namespace tests
