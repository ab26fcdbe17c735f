// What quotas add to the cost of decisions.
#include "scheduler/engine/engine.h"
#include "scheduler/quota/ledger.h"
#include "tests/hostile/cost.h"
#include "tests/hostile/crowded_cluster.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"
#include "tests/support/gpu_quotas.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <string>

namespace sched {

namespace {

using tests::Cluster;
using tests::Cost;
using tests::cost_of;
using tests::kNodes;
using tests::near_own;
using tests::pod_of;
using tests::PodBuilder;

}  // namespace

TEST_CASE("what is held for pods that have waited long costs a decision no search of all quotas") {
  constexpr int kQuotas = 150;
  constexpr int kPodsOfEach = 40;
  Cluster cluster;
  for (int i = 0; i < kNodes; ++i) {
    cluster.tell(event::PodUpserted{pod_of("crowd", i).gpus(1).on(fmt::format("n{}", i))});
  }
  for (int i = 0; i < kQuotas; ++i) {
    const std::string name = fmt::format("team-{}", i);
    cluster.tell(event::QuotaUpserted{tests::gpu_quota(name).of(name).line("*", 16 * kPodsOfEach)});
    for (int k = 0; k < kPodsOfEach; ++k) {
      cluster.tell(event::PodUpserted{pod_of(name.c_str(), k).gpus(8)});
    }
  }
  cluster.pass(std::chrono::minutes(5));
  int decisions = 0;
  const Cost cost = cost_of([&] { decisions = cluster.pass(std::chrono::minutes(6)); });
  INFO(decisions << " decisions: " << cost);
  REQUIRE(decisions >= kQuotas * kPodsOfEach);
  // 21,000; 35,000 where each quota looks through its line and holds at every decision.
  CHECK(cost.steps / decisions <= 28'000);
}

TEST_CASE("quotas that come together are arranged once") {
  const auto cost_of_quotas = [](int quotas) {
    quota::Ledger ledger{quota::Options{}};
    return cost_of([&] {
      for (int i = 0; i < quotas; ++i) {
        const std::string name = fmt::format("team-{}", i);
        ledger.upsert(tests::gpu_quota(name).of(name).in_cohort("c").line("*", 4));
      }
      static_cast<void>(ledger.take_news());
    });
  };
  const Cost few = cost_of_quotas(100);
  const Cost many = cost_of_quotas(400);
  INFO(few << " for 100 quotas, " << many << " for 400");
  CHECK(many.steps <= 8 * few.steps);  // 16 where each arranges all
}

TEST_CASE("a pod that is refused for its many terms costs no more under a quota") {
  const auto cost_with = [](bool quota) {
    Cluster cluster;
    if (quota) {
      cluster.tell(event::QuotaUpserted{tests::gpu_quota("team").of("crowd").line("*", 1'000)});
    }
    PodBuilder pod = pod_of("crowd", 1).gpus(1);
    for (int k = 0; k < 60; ++k) pod.away_from(near_own(fmt::format("a{}", k)));
    return cost_of([&] { cluster.tell(event::PodUpserted{pod}); });
  };
  const Cost with = cost_with(true);
  const Cost without = cost_with(false);
  INFO(with << " with a quota, " << without << " without");
  CHECK(with.steps <= 2 * without.steps);
  CHECK(with.kept_bytes <= 2 * without.kept_bytes);
}

}  // namespace sched
