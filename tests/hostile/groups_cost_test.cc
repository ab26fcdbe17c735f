// What groups of pods cost: the search for one, and those that start.
#include "scheduler/engine/engine.h"
#include "scheduler/engine/world/pod_group.h"
#include "tests/hostile/cost.h"
#include "tests/hostile/crowded_cluster.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace sched {

namespace {

using tests::claim_of;
using tests::Cluster;
using tests::cost_of;
using tests::near_own;
using tests::pod_of;
using tests::PodBuilder;
using tests::waiting_class;

// A group of two, of which one needs a claim that is not bound yet, is starting; so many more of
// its pods come.
void begin_with_followers(Cluster& cluster, int followers) {
  cluster.tell(event::Upserted<k8s::StorageClass>{waiting_class()});
  cluster.tell(event::VolumeClaimUpserted{claim_of("crowd", "c", "made")});
  for (int i = 0; i < 2 + followers; ++i) {
    PodBuilder pod = pod_of("crowd", i);
    pod.annotated("gpu-scheduler.io/pod-group", "g");
    pod.annotated("gpu-scheduler.io/pod-group-min-count", "2");
    if (i == 0) pod.mounts_claim("c");
    cluster.tell(event::PodUpserted{pod});
  }
}

}  // namespace

TEST_CASE("a search for a group whose pods have many terms ends, however many pods it has") {
  // The last pod fits nowhere, so that the others have no nodes after the search. `alike`: their
  // terms and labels are equal.
  const auto cost_of_last = [](int pods, bool alike) {
    const auto member = [&](int i) {
      PodBuilder pod = pod_of("crowd", i).labelled("app", alike ? "a" : fmt::format("a{}", i));
      pod.annotated("gpu-scheduler.io/pod-group", "g");
      pod.annotated("gpu-scheduler.io/pod-group-min-count", std::to_string(pods));
      for (int k = 0; k < 32; ++k) {
        k8s::PodAffinityTerm term = near_own(fmt::format("b{}-{}", alike ? 0 : i, k));
        term.topology_key = "no-such-label";
        pod.away_from(std::move(term));
      }
      return pod;
    };
    Cluster cluster;
    for (int i = 1; i < pods; ++i) cluster.tell(event::PodUpserted{member(i)});
    return cost_of([&] { cluster.tell(event::PodUpserted{member(pods).gpus(100)}); }).steps;
  };
  const std::int64_t few = cost_of_last(200, false);
  const std::int64_t many = cost_of_last(400, false);
  INFO(few << " steps of 200 pods, " << many << " of 400");
  CHECK(few <= 75'000'000);
  CHECK(many <= 2 * few);
  const std::int64_t replicas = cost_of_last(400, true);
  INFO(replicas << " of 400 replicas");
  CHECK(replicas <= 100'000'000);
}

TEST_CASE(
    "a search for a group computes once what volumes each pod takes, not for each further pod") {
  // The largest pod fits nowhere, so that all others are seated, and none gets its node. `volumes`:
  // each mounts a claim, for which there may be a volume.
  const auto cost_of_search = [](bool volumes) {
    constexpr int kMembers = 400;
    const auto member = [](int i) {
      PodBuilder pod = pod_of("crowd", i);
      pod.annotated("gpu-scheduler.io/pod-group", "g");
      pod.annotated("gpu-scheduler.io/pod-group-min-count", std::to_string(kMembers + 1));
      return pod;
    };
    Cluster cluster;
    cluster.tell(event::Upserted<k8s::StorageClass>{waiting_class()});
    k8s::PersistentVolume free = tests::volume("free");
    free.storage_class = "made";
    free.phase = "Available";
    cluster.tell(event::VolumeUpserted{free});
    for (int i = 0; i < kMembers; ++i) {
      const std::string name = fmt::format("c{}", i);
      cluster.tell(event::VolumeClaimUpserted{claim_of("crowd", name, "made")});
      PodBuilder pod = member(i);
      if (volumes) pod.mounts_claim(name);
      cluster.tell(event::PodUpserted{pod});
    }
    return cost_of([&] { cluster.tell(event::PodUpserted{member(kMembers).gpus(100)}); }).steps;
  };
  const std::int64_t more = cost_of_search(true) - cost_of_search(false);
  INFO(more << " steps for the volumes");
  CHECK(more <= 85'000'000);  // 54 million; computed anew for each pod 146 million
}

TEST_CASE("a change of a volume costs a group that is starting nothing if no pod mounts it") {
  const auto cost_of_change = [](int followers) {
    Cluster cluster;
    begin_with_followers(cluster, followers);
    return cost_of([&] {
             cluster.tell(event::VolumeClaimUpserted{claim_of("crowd", "another", "made")});
           })
        .steps;
  };
  const std::int64_t few = cost_of_change(500);
  const std::int64_t many = cost_of_change(1'000);
  INFO(few << " steps with 500 that follow, " << many << " with 1,000");
  CHECK(many <= few + few / 4);
}

TEST_CASE("as many pods follow a group that is starting as may start together, and no more") {
  constexpr auto kMost = static_cast<int>(PodGroup::kMostPods);
  Cluster cluster;
  begin_with_followers(cluster, kMost + 50);
  CHECK(cluster.engine().pending().unschedulable == 50);
  cluster.prepare_all();
  k8s::PersistentVolumeClaim bound = claim_of("crowd", "c", "made");
  bound.volume_name = "v";
  bound.phase = "Bound";
  bound.metadata.annotations.set("pv.kubernetes.io/bind-completed", "yes");
  cluster.tell(event::VolumeUpserted{tests::volume("v")});
  cluster.tell(event::VolumeClaimUpserted{bound});
  // It has started, and so the others are placed.
  CHECK(cluster.engine().pending().unschedulable == 0);
  CHECK(cluster.engine().pending().active == 0);
}

}  // namespace sched
