// What pods for which others leave cost the others, and each other.
#include "scheduler/engine/engine.h"
#include "scheduler/engine/world/topology_rejections.h"
#include "tests/hostile/cost.h"
#include "tests/hostile/crowded_cluster.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"
#include "tests/support/gpu_quotas.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace sched {

namespace {

using tests::Cluster;
using tests::cost_of;
using tests::kNodes;
using tests::near_own;
using tests::pod_of;
using tests::PodBuilder;

// So many pods of the crowd wait until another one of it, on a node of its own, has left. Each has
// so many terms of anti-affinity of its own.
void begin_plans(Cluster& cluster, int plans, int terms = 0) {
  for (int i = 1; i < kNodes; ++i) {
    PodBuilder pod = pod_of(i <= plans ? "crowd" : "filler", kNodes + i);
    pod.gpus(i <= plans ? 8 : 7).priority(i <= plans ? 0 : 2).on(fmt::format("n{}", i));
    cluster.tell(event::PodUpserted{pod});
  }
  for (int i = 0; i < plans; ++i) {
    PodBuilder pod = pod_of("crowd", i).gpus(8).priority(1);
    for (int k = 0; k < terms; ++k) pod.away_from(near_own(fmt::format("a{}-{}", i, k)));
    cluster.tell(event::PodUpserted{pod});
  }
  for (int second = 0; second < plans && !cluster.engine().in_line("crowd").empty(); ++second) {
    cluster.pass(std::chrono::seconds(1));
  }
  REQUIRE(cluster.engine().pending().unschedulable == static_cast<std::size_t>(plans));
  REQUIRE(cluster.engine().in_line("crowd").empty());
}

}  // namespace

TEST_CASE("plans that wait for room, however many, cost a bind hardly anything") {
  // A bind gives no quota, so no plan has to be looked at.
  const auto cost_of_bind = [](int plans) {
    Cluster cluster({}, Preemption{.evicts_bare_pods = true});
    cluster.tell(event::QuotaUpserted{tests::gpu_quota("team").of("crowd").line("*", 16 * plans)});
    cluster.tell(event::QuotaUpserted{tests::gpu_quota("other").of("neighbour").line("*", 8)});
    begin_plans(cluster, plans);
    cluster.neighbour_comes();
    return cost_of([&] { cluster.neighbour_comes(); }).steps;
  };
  const std::int64_t few = cost_of_bind(50);
  const std::int64_t many = cost_of_bind(100);
  INFO(few << " steps with 50 plans, " << many << " with 100");
  CHECK(2 * many <= 3 * few);
}

TEST_CASE("plans whose pods have many rules of their own are looked at some at a time") {
  const auto cost_of_turn = [](int plans) {
    // What is counted for one pod is dropped for the next.
    Cluster cluster({.counts = 1}, Preemption{.evicts_bare_pods = true});
    begin_plans(cluster, plans, 32);
    std::int64_t most = 0;
    for (int turn = 0; turn < 15; ++turn) {
      most = std::max(most, cost_of([&] { cluster.turn(); }).steps);
    }
    return most;
  };
  const std::int64_t few = cost_of_turn(60);
  const std::int64_t many = cost_of_turn(180);
  INFO(few << " steps with 60 plans, " << many << " with 180");
  CHECK(many <= 2 * few);
}

TEST_CASE("pods whose claims are missing, however many, cost others no look at each of them") {
  const auto cost_of_turn = [](int pods) {
    Cluster cluster({}, Preemption{.evicts_bare_pods = true});
    // Each waits for quota first, as pods do that may evict others.
    cluster.tell(event::QuotaUpserted{tests::gpu_quota("team").of("crowd").line("*", 1)});
    for (int i = 0; i < pods; ++i) {
      PodBuilder pod = pod_of("crowd", i).gpus(8).cpu(fmt::format("{}m", i + 1));
      for (int k = 0; k < 50; ++k) pod.mounts_claim("missing");
      cluster.tell(event::PodUpserted{pod});
    }
    REQUIRE(cluster.engine().pending().unschedulable == static_cast<std::size_t>(pods));
    cluster.turn();
    return cost_of([&] { cluster.turn(); }).steps;
  };
  const std::int64_t few = cost_of_turn(100);
  const std::int64_t many = cost_of_turn(400);
  INFO(few << " steps with 100 pods, " << many << " with 400");
  CHECK(many <= 2 * few);
}

TEST_CASE("a pod that leaves its quota costs plans that wait for room no square of their number") {
  // Each plan counts without those behind it. All are looked at, since quota may allow more.
  const auto cost_of_leaving = [](int plans) {
    Cluster cluster({}, Preemption{.evicts_bare_pods = true});
    cluster.tell(event::QuotaUpserted{tests::gpu_quota("team").of("crowd").line("*", 16 * plans)});
    begin_plans(cluster, plans);
    const std::string leaves = fmt::format("crowd-{}", kNodes + 1);
    return cost_of([&] { cluster.tell(event::PodDeleted{{"crowd", leaves, leaves}}); }).steps;
  };
  const std::int64_t few = cost_of_leaving(25);
  const std::int64_t many = cost_of_leaving(100);
  INFO(few << " steps with 25 plans, " << many << " with 100");
  CHECK(many <= 6 * few);
}

TEST_CASE("rejected pods, however many, cost a decision nothing until a node is tried again") {
  TopologyRejections rejections;
  const Time now{std::chrono::seconds{1'000'000}};
  const TopologyRejections::Requests requests = {{"nvidia.com/gpu", 1}};
  for (std::size_t i = 0; i < TopologyRejections::kMost; ++i) {
    rejections.add(fmt::format("n{}", i), requests, fmt::format("uid-{}", i), now);
  }
  const Time end = now + TopologyRejections::kShortest;
  CHECK(cost_of([&] { rejections.forget(end - std::chrono::seconds(1)); }).steps < 20);
  CHECK(cost_of([&] { static_cast<void>(rejections.next_end()); }).steps < 20);
  CHECK_FALSE(rejections.none());
  rejections.forget(end);
  CHECK(rejections.none());
  CHECK(cost_of([&] { rejections.forget(end); }).steps < 20);
}

}  // namespace sched
