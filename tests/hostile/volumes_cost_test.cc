// What volumes and claims of many pods cost others.
#include "scheduler/engine/engine.h"
#include "tests/hostile/cost.h"
#include "tests/hostile/crowded_cluster.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace sched {

namespace {

using tests::claim_of;
using tests::Cluster;
using tests::Cost;
using tests::cost_of;
using tests::node_of;
using tests::pod_of;
using tests::PodBuilder;
using tests::waiting_class;

}  // namespace

TEST_CASE("pods with many claims that wait cost a turn a bounded number of steps") {
  const auto cost_of_turns = [](int claims) {
    Cluster cluster;
    k8s::StorageClass local;
    local.metadata.name = "local";
    local.provisioner = "kubernetes.io/no-provisioner";
    local.binding_mode = "WaitForFirstConsumer";
    cluster.tell(event::Upserted<k8s::StorageClass>{local});
    // So that nodes have to be asked, though none has as many volumes as there are claims.
    k8s::PersistentVolume free = tests::volume("free");
    free.storage_class = "local";
    free.phase = "Available";
    free.capacity_bytes = 1;
    free.node_affinity.emplace().terms.push_back(
        tests::term({tests::label("kubernetes.io/hostname").in({"n0"})}));
    cluster.tell(event::VolumeUpserted{free});
    for (int i = 0; i < 40; ++i) {
      PodBuilder pod = pod_of("crowd", i);
      for (int k = 0; k < claims; ++k) {
        k8s::PersistentVolumeClaim claim;
        claim.metadata.name = fmt::format("c{}-{}", i, k);
        claim.metadata.namespace_ = "crowd";
        claim.metadata.uid = claim.metadata.name;
        claim.storage_class = "local";
        claim.phase = "Pending";
        cluster.tell(event::VolumeClaimUpserted{claim});
        pod.mounts_claim(claim.metadata.name);
      }
      cluster.tell(event::PodUpserted{pod});
    }
    std::int64_t most = 0;
    for (int turn = 0; turn < 30; ++turn) {
      most = std::max(most, cost_of([&] { cluster.turn(); }).steps);
    }
    return most;
  };
  const std::int64_t most = cost_of_turns(50);
  INFO(most << " steps");
  // 13 million, with Debian 13's compiler 17. All are looked at in one turn, for there are only so
  // many nodes.
  CHECK(most <= 20'000'000);
}

TEST_CASE("pods that wait for the node of one volume cost as one when it gets room") {
  const auto cost_of_room = [](int pods) {
    Cluster cluster;
    k8s::PersistentVolume volume = tests::volume("data");
    volume.node_affinity.emplace().terms.push_back(
        tests::term({tests::label("kubernetes.io/hostname").in({"n0"})}));
    cluster.tell(event::VolumeUpserted{volume});
    k8s::PersistentVolumeClaim claim = tests::claim("data", "data");
    claim.metadata.namespace_ = "crowd";
    cluster.tell(event::VolumeClaimUpserted{claim});
    k8s::Node full = node_of(0);
    full.metadata.labels.set("kubernetes.io/hostname", "n0");
    cluster.tell(event::NodeUpserted{full});
    const k8s::Pod first = pod_of("crowd", 0).gpus(8).on("n0");
    cluster.tell(event::PodUpserted{first});
    for (int i = 1; i <= pods; ++i) {
      cluster.tell(event::PodUpserted{pod_of("crowd", i).gpus(8).mounts_claim("data")});
    }
    return cost_of([&] {
             cluster.tell(event::PodDeleted{{"crowd", first.metadata.name, first.metadata.uid}});
             cluster.pass(std::chrono::seconds(10));
           })
        .steps;
  };
  const std::int64_t few = cost_of_room(50);
  const std::int64_t many = cost_of_room(500);
  INFO(few << " steps with 50 pods, " << many << " with 500");
  CHECK(many <= 2 * few);
}

TEST_CASE(
    "pods that wait for their volumes cost changes of other objects no look at each of them") {
  struct Steps {
    std::int64_t written = 0;  // of all pods
    std::int64_t claim = 0;
    std::int64_t volume = 0;
  };
  const auto cost_with = [](int pods) {
    Cluster cluster;
    cluster.tell(event::Upserted<k8s::StorageClass>{waiting_class()});
    for (int i = 0; i < pods; ++i) {
      const std::string name = fmt::format("c{}", i);
      cluster.tell(event::VolumeClaimUpserted{claim_of("crowd", name, "made")});
      cluster.tell(event::PodUpserted{pod_of("crowd", i).mounts_claim(name)});
    }
    Steps steps;
    steps.written = cost_of([&] { cluster.prepare_all(); }).steps;
    k8s::PersistentVolumeClaim changed = claim_of("crowd", "c0", "made");
    changed.metadata.resource_version = "2";
    steps.claim = cost_of([&] { cluster.tell(event::VolumeClaimUpserted{changed}); }).steps;
    steps.volume = cost_of([&] { cluster.tell(event::VolumeUpserted{tests::volume("v")}); }).steps;
    return steps;
  };
  const Steps few = cost_with(250);
  const Steps many = cost_with(1'000);
  INFO("written " << few.written << " and " << many.written << ", a claim " << few.claim << " and "
                  << many.claim << ", a volume " << few.volume << " and " << many.volume);
  CHECK(many.written <= 5 * few.written);
  CHECK(many.claim <= few.claim + few.claim / 2);
  CHECK(many.volume <= few.volume + few.volume / 2);
}

TEST_CASE("a pod with a volume costs a search for victims no count of all nodes on each of them") {
  const auto cost_of_search = [](bool with_volume) {
    Cluster cluster({}, Preemption{.evicts_bare_pods = true});
    cluster.tell(event::Upserted<k8s::StorageClass>{waiting_class()});
    for (int i = 0; i < tests::kNodes; ++i) {
      k8s::CsiNode limited;
      limited.metadata.name = fmt::format("n{}", i);
      limited.drivers = {{"p", 10}};
      cluster.tell(event::Upserted<k8s::CsiNode>{limited});
      cluster.tell(event::PodUpserted{pod_of("low", i).gpus(8).on(limited.metadata.name)});
    }
    cluster.tell(event::VolumeClaimUpserted{claim_of("high", "c", "made")});
    PodBuilder high = pod_of("high", 0).gpus(8).priority(1);
    if (with_volume) high.mounts_claim("c");
    return cost_of([&] { cluster.tell(event::PodUpserted{high}); }).steps;
  };
  const std::int64_t more = cost_of_search(true) - cost_of_search(false);
  INFO(more << " steps for the volume");
  CHECK(more <= 3'000'000);  // 0.8 million; counted anew for each node 9 million
}

TEST_CASE("a claim that many pods wait for costs others no more at each change of it") {
  Cluster empty;
  const Cost alone = cost_of([&] { empty.turn(); });
  const auto selected = [](const std::string& node) {
    k8s::PersistentVolumeClaim made = claim_of("crowd", "c", "none-such");
    made.metadata.annotations.set("volume.kubernetes.io/selected-node", node);
    return made;
  };
  for (const int pods : {1'000, 4'000}) {
    Cluster cluster;
    cluster.tell(event::VolumeClaimUpserted{selected("n0")});
    for (int i = 0; i < pods; ++i) {
      cluster.tell(event::PodUpserted{pod_of("crowd", i).mounts_claim("c")});
    }
    REQUIRE(cluster.engine().pending().unschedulable == static_cast<std::size_t>(pods));
    cluster.turn();
    k8s::PersistentVolumeClaim labelled = selected("n0");
    labelled.metadata.resource_version = "2";
    labelled.metadata.labels.set("a", "b");
    const Cost nothing = cost_of([&] { cluster.tell(event::VolumeClaimUpserted{labelled}); });
    // What matters is looked at, but some pods at a time.
    cluster.tell(event::VolumeClaimUpserted{selected("n1")});
    const Cost turn = cost_of([&] {
      cluster.tell(event::VolumeClaimUpserted{selected("n2")});
      cluster.turn();
    });
    INFO(pods << " pods: " << nothing << " for labels, " << turn << " for a turn, " << alone
              << " alone");
    CHECK(nothing.steps <= 20'000);
    CHECK(turn.steps - alone.steps <= 1'000'000);  // all at once take millions
    int decisions = 0;
    for (int i = 0; i < 30; ++i) decisions += cluster.pass(std::chrono::milliseconds(10));
    CHECK(decisions == 0);  // they are told the same as before
    const auto wakeup = cluster.engine().next_wakeup();
    REQUIRE(wakeup);
    CHECK(*wakeup > cluster.now());
  }
}

}  // namespace sched
