// Groups whose pods differ, or have rules across nodes, objects and volumes.
#include "tests/scheduler/engine/grouped_pods.h"

#include <chrono>
#include <string>

using namespace sched;
using namespace tests;
using namespace std::chrono_literals;

TEST_CASE("the pods may ask for different things: the largest are seated first") {
  Groups s;
  s.has(node("a").gpus(8).cpu("8"));
  s.has(node("b").gpus(8).cpu("8"));
  PodBuilder leader = our_pod("leader");
  s.has(member(leader.cpu("6"), "train", 3));
  for (int i = 0; i < 2; ++i) s.has(of("train", 3, i).cpu("2"));
  CHECK(s.outcome() == all_bound(3));
}

TEST_CASE("a pod that finds no room is replaced by one beyond those that start together") {
  Groups s;
  s.has_nodes(2, 4);
  s.has(of("train", 2, 0, 8));  // the oldest
  s.has(of("train", 2, 1, 4));
  CHECK(s.outcome().bound == 0);
  s.has(of("train", 2, 2, 4));
  CHECK(s.outcome().bound == 2);
}

TEST_CASE("rules across nodes count the pods of the group, too") {
  SECTION("two on one node are forbidden") {
    Groups s({"InterPodAffinity"});
    s.has_nodes(2);
    const auto apart = [](int i) {
      return of("train", 3, i, 1)
          .labelled("app", "train")
          .away_from(pods_like({{"app", "train"}}, "kubernetes.io/hostname"));
    };
    for (int i = 0; i < 3; ++i) s.has(apart(i));
    CHECK(s.outcome() ==
          Groups::Outcome{0,
                          {"0/2 nodes are available: 2 node(s) didn't match pod anti-affinity "
                           "rules. | There is room for 2 of the 3 pods that start together as "
                           "group train."}});
    s.has_nodes(1);
    CHECK(s.outcome() == all_bound(3));
  }
  SECTION("one of the group keeps the others away from its node") {
    Groups s({"InterPodAffinity"});
    s.has_nodes(1);
    s.has(of("train", 2, 0, 2).away_from(pods_like({{"app", "x"}}, "kubernetes.io/hostname")));
    s.has(of("train", 2, 1, 1).labelled("app", "x"));
    CHECK(s.outcome().bound == 0);
    s.has_nodes(1);
    CHECK(s.outcome() == all_bound(2));
  }
  SECTION("all in one zone, with the first") {
    Groups s({"InterPodAffinity"});
    for (const char* zone : {"a", "b"}) {
      for (int i = 0; i < 2; ++i) {
        s.has(node(zone + std::to_string(i)).gpus(8).labelled("zone", zone));
      }
    }
    const auto near = [](int i) {
      return of("train", 3, i).labelled("app", "train").near(pods_like({{"app", "train"}}, "zone"));
    };
    for (int i = 0; i < 3; ++i) s.has(near(i));
    CHECK(s.outcome().bound == 0);
    s.has(node("a2").gpus(8).labelled("zone", "a"));
    CHECK(s.outcome() == all_bound(3));
  }
}

TEST_CASE("what a pod of a group prefers counts on the nodes of the group, too") {
  Groups s({"InterPodAffinity"});
  for (const char* name : {"a", "b"}) s.has(node(name).gpus(8));
  // Without the preference b is better, because more of it is in use.
  s.has(our_pod("web").labelled("app", "web").gpus(6).on("b"));
  for (int i = 0; i < 2; ++i) {
    s.has(of("train", 2, i, 1)
              .rather_away_from(100, pods_like({{"app", "web"}}, "kubernetes.io/hostname")));
  }
  CHECK(s.decide() == Texts{"train-0 → a", "train-1 → a"});
}

TEST_CASE("if something refuses one pod of the group, all wait for what may lift that") {
  Groups s;
  s.has_nodes(2);
  s.has(of("train", 2, 0));
  s.has(of("train", 2, 1).labelled("waits-for", "blue"));
  CHECK(s.outcome() == Groups::Outcome{0,
                                       {"0/2 nodes are available: waiting for blue. | This is "
                                        "about pod train-1 of its group train."}});
  k8s::Namespace blue;
  blue.metadata.name = "blue";
  s.has(blue);
  CHECK(s.outcome() == all_bound(2));
}

TEST_CASE("if all pods of a group are refused, it starts once enough of them are not any more") {
  Groups s;
  s.has_nodes(1);
  s.has(of("train", 1, 0).labelled("waits-for", "red"));
  s.has(of("train", 1, 1).labelled("waits-for", "blue"));
  REQUIRE(s.outcome().bound == 0);
  s.has(name_space("blue"));
  CHECK(s.outcome().bound == 1);
}

TEST_CASE("a pod that was refused takes the seat that another lacks, after a minute at most") {
  Groups s;
  s.has_nodes(1, 4);
  s.has(of("train", 1, 0, 8));
  s.has(of("train", 1, 1, 4).labelled("waits-for", "blue"));
  REQUIRE(s.outcome().bound == 0);
  s.has(name_space("blue"));
  s.now += 1min;
  CHECK(s.outcome().bound == 1);
}

TEST_CASE("pods that have to be in one zone find the zone that has room") {
  Groups s({"InterPodAffinity"});
  s.has(node("a0").gpus(8).labelled("zone", "a"));
  for (const char* name : {"b0", "b1"}) s.has(node(name).gpus(8).labelled("zone", "b"));
  for (const char* name : {"c0", "c1", "c2"}) s.has(node(name).gpus(8).labelled("zone", "c"));
  for (int i = 0; i < 3; ++i) {
    s.has(of("train", 3, i).labelled("app", "t").near(pods_like({{"app", "t"}}, "zone")));
  }
  CHECK(s.outcome() == all_bound(3));
}

TEST_CASE("pods find room near another of their group that is seated after them") {
  Groups s({"InterPodAffinity"});
  s.has(node("a").gpus(8).labelled("zone", "z"));
  for (int i = 1; i < 3; ++i) s.has(of("train", 3, i).near(pods_like({{"app", "leader"}}, "zone")));
  s.has(of("train", 3, 0, 0).labelled("app", "leader"));
  CHECK(s.outcome() ==
        Groups::Outcome{0,
                        {"0/1 nodes are available: 1 Insufficient nvidia.com/gpu. | There is room "
                         "for 2 of the 3 pods that start together as group train."}});
  s.has(node("b").gpus(8).labelled("zone", "z"));
  CHECK(s.outcome() == all_bound(3));
}

TEST_CASE("a pod that others have to be near is seated in the zone that has room for them") {
  Groups s({"InterPodAffinity"});
  s.has(node("a0").gpus(8).labelled("zone", "a"));
  s.has(node("b0").gpus(8).labelled("zone", "b"));
  for (const char* name : {"c0", "c1"}) s.has(node(name).gpus(8).labelled("zone", "c"));
  for (int i = 1; i < 3; ++i) s.has(of("train", 3, i).near(pods_like({{"app", "leader"}}, "zone")));
  s.has(of("train", 3, 0, 0).labelled("app", "leader"));
  CHECK(s.outcome() == all_bound(3));
}

TEST_CASE(
    "a pod beyond those that start together, which is refused, does not keep the others waiting") {
  Groups s;
  s.has_nodes(2);
  s.has_pods("train", 2, 2);
  s.has(of("train", 2, 2).labelled("waits-for", "blue"));
  CHECK(s.outcome().bound == 2);
}

TEST_CASE("each pod of a group has a volume of its own node, though one node had room for all") {
  Groups s({"NodeVolumeLimits", "VolumeBinding"});
  k8s::StorageClass local;
  local.metadata.name = "local";
  local.provisioner = "kubernetes.io/no-provisioner";
  local.binding_mode = "WaitForFirstConsumer";
  s.apply(event::Upserted<k8s::StorageClass>{local});
  constexpr const char* kHost = "kubernetes.io/hostname";
  const auto has_volume_on = [&](const char* host) {
    k8s::PersistentVolume made = volume(std::string("of-") + host);
    made.storage_class = "local";
    made.phase = "Available";
    made.node_affinity = k8s::NodeSelector{{term({label(kHost).in({host})})}};
    s.Scheduler::has(made);
  };
  for (const char* name : {"a", "b"}) s.has(node(name).gpus(8).labelled(kHost, name));
  has_volume_on("a");
  for (int i = 0; i < 2; ++i) {
    const std::string name = "c" + std::to_string(i);
    k8s::PersistentVolumeClaim made = claim(name, "");
    made.storage_class = "local";
    s.Scheduler::has(made);
    s.has(of("train", 2, i, 1).mounts_claim(name));
  }
  CHECK(s.outcome() ==
        Groups::Outcome{0,
                        {"0/2 nodes are available: 2 node(s) didn't find available persistent "
                         "volumes to bind. | There is room for 1 of the 2 pods that start together "
                         "as group train."}});
  has_volume_on("b");
  s.now += 1min;
  CHECK(s.decide() == Texts{"train-0 prepares for a", "train-1 prepares for b"});
}

TEST_CASE("pods that share a claim which waits for them find the node that has room for all") {
  Groups s({"NodeVolumeLimits", "VolumeBinding"});
  k8s::StorageClass made;
  made.metadata.name = "made";
  made.provisioner = "p";
  made.binding_mode = "WaitForFirstConsumer";
  s.apply(event::Upserted<k8s::StorageClass>{made});
  s.has(node("a").gpus(4));
  k8s::PersistentVolumeClaim shared = claim("shared", "");
  shared.storage_class = "made";
  s.has(shared);
  for (int i = 0; i < 2; ++i) s.has(of("train", 2, i, 4).mounts_claim("shared"));
  s.has(node("b").gpus(7));
  CHECK(s.outcome().told ==
        Texts{"0/2 nodes are available: 1 Insufficient nvidia.com/gpu, 1 node(s) didn't find "
              "available persistent volumes to bind. | There is room for 1 of the 2 pods that "
              "start together as group train."});
  s.has(node("c").gpus(8));
  CHECK(s.decide() == Texts{"train-0 prepares for c", "train-1 prepares for c"});
}

TEST_CASE("a pod of a group leaves another the only node that this may have") {
  Groups s({"NodeVolumeLimits", "VolumeBinding"});
  constexpr const char* kHost = "kubernetes.io/hostname";
  for (const char* name : {"a", "b"}) s.has(node(name).gpus(8).labelled(kHost, name));
  k8s::PersistentVolume local = volume("local");
  local.node_affinity = k8s::NodeSelector{{term({label(kHost).in({"a"})})}};
  s.Scheduler::has(local);
  s.Scheduler::has(claim("data", "local"));
  s.has(of("train", 2, 0, 8));
  s.has(of("train", 2, 1, 4).mounts_claim("data"));
  CHECK(s.outcome() == all_bound(2));
}

TEST_CASE("pods that cannot be prepared beside each other start not at all") {
  Groups s;
  s.has_nodes(2);
  s.has(claim("shared", ""));
  for (int i = 0; i < 2; ++i) s.has(of("train", 2, i).labelled("binds-claim", "shared"));
  const Texts made = s.decide();
  REQUIRE(made.size() == 2);
  CHECK(made[0] ==
        "train-0 waits: 0/2 nodes are available: the pods of a group exclude each other.");
  CHECK(s.engine.pending().unschedulable == 2);
  // Nothing is left behind: both nodes take others.
  for (const char* name : {"x", "y"}) s.has(our_pod(name).gpus(8));
  CHECK(s.outcome() == all_bound(2));
}
