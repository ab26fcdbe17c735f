// Preemption by priority: who is evicted for whom, and what is told.
#include "tests/scheduler/engine/preempting.h"
#include "tests/support/catch.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

using namespace sched;
using namespace tests;
using namespace std::chrono_literals;

TEST_CASE("a pod that no node takes gets the room of pods of lower priority") {
  Preempting s;
  s.has(node("n").gpus(8));
  const k8s::Pod low = s.runs("low", "n", kLow, 8);
  const k8s::Pod high = wants(8);
  s.has(high);
  const auto decided = s.decisions();
  REQUIRE(decided.size() == 1);
  const auto& evict = std::get<decision::Evict>(decided[0]);
  CHECK(evict == decision::Evict{.plan = 1,
                                 .pod = Scheduler::ref(high),
                                 .scheduler_name = kOurs,
                                 .generation = 1,
                                 .node = "n",
                                 .victims = {{Scheduler::ref(low)}},
                                 .message = "0/1 nodes are available: 1 Insufficient "
                                            "nvidia.com/gpu. preemption: found a potential "
                                            "placement for pod on node n, preempting 1 victims",
                                 .details = evict.details,
                                 .attempts = 1});
  // Nothing is bound before the victim is gone, and no other pod is chosen.
  s.prepared(1);
  s.terminates(low);
  CHECK(s.decide().empty());
  s.pod_gone(low);
  CHECK(s.decide() == Texts{"p → n"});
}

TEST_CASE("without preemption in the profile nobody is evicted") {
  QuotaCluster s;
  s.has(node("n").gpus(8));
  s.has(owned(our_pod("low").priority(kLow).gpus(8).on("n")));
  s.has(wants(8));
  CHECK(s.decide() == Texts{"p waits: 0/1 nodes are available: 1 Insufficient nvidia.com/gpu."});
}

TEST_CASE("who is evicted on a node is kube-scheduler's choice") {
  Preempting s;
  s.has(node("n").gpus(8));
  SECTION("not the fewest: the oldest stays if that leaves room") {
    s.runs("a", "n", kLow, 4, 0);
    s.runs("b", "n", kLow, 2, 1);
    s.runs("c", "n", kLow, 1, 2);
    s.runs("d", "n", kLow, 1, 3);
    s.has(wants(4));
    CHECK(s.decide() == Texts{"p gets n without b c d"});
  }
  SECTION("one that frees more than is needed") {
    s.runs("a", "n", kLow, 2, 0);
    s.runs("b", "n", kLow, 1, 1);
    s.runs("c", "n", kLow, 1, 2);
    s.runs("d", "n", kLow, 4, 3);
    s.has(wants(2));
    CHECK(s.decide() == Texts{"p gets n without d"});
  }
  SECTION("pods that take nothing of what is short stay") {
    s.runs("cpu", "n", kLow, 0, 9);
    s.runs("gpu", "n", kLow, 8, 0);
    s.has(wants(8));
    CHECK(s.decide() == Texts{"p gets n without gpu"});
  }
  SECTION("a pod that has not started counts as the youngest") {
    s.runs("older", "n", kLow, 4, 0);
    s.has(owned(our_pod("new").priority(kLow).gpus(4).on("n")));
    s.has(wants(4));
    CHECK(s.decide() == Texts{"p gets n without new"});
  }
  SECTION("the lowest priority goes first") {
    s.runs("mid", "n", kMid, 4, 5);
    s.runs("low", "n", kLow, 4, 0);
    s.has(wants(4));
    CHECK(s.decide() == Texts{"p gets n without low"});
  }
}

TEST_CASE("between nodes the choice is kube-scheduler's, and ties fall to the first by name") {
  Preempting s;
  s.has(node("a").gpus(8));
  s.has(node("b").gpus(8));
  SECTION("the lower priority, however many pods") {
    s.runs("one", "a", 51, 8);
    for (int i = 0; i < 8; ++i) s.runs("m" + std::to_string(i), "b", 50, 1);
    s.has(wants(8));
    CHECK(s.decide() == Texts{"p gets b without m0 m1 m2 m3 m4 m5 m6 m7"});
  }
  SECTION("fewer pods") {
    s.runs("a1", "a", kLow, 4);
    s.runs("a2", "a", kLow, 4);
    s.runs("b1", "b", kLow, 8);
    s.has(wants(8));
    CHECK(s.decide() == Texts{"p gets b without b1"});
  }
  SECTION("the one that started later") {
    s.runs("a1", "a", kLow, 8, 0);
    s.runs("b1", "b", kLow, 8, 60);
    s.has(wants(8));
    CHECK(s.decide() == Texts{"p gets b without b1"});
  }
  SECTION("the lower sum of priorities, where the highest is the same") {
    s.runs("a1", "a", kLow, 4);
    s.runs("a2", "a", 90, 4);
    s.runs("b1", "b", kLow, 4);
    s.runs("b2", "b", 10, 4);
    s.has(wants(8));
    CHECK(s.decide() == Texts{"p gets b without b1 b2"});
  }
  SECTION("but a pod fewer is less, also of negative priorities") {
    s.runs("a1", "a", -1, 4);
    s.runs("a2", "a", -20, 4);
    s.runs("b1", "b", -1, 8);
    s.has(wants(8));
    CHECK(s.decide() == Texts{"p gets b without b1"});
  }
  SECTION("when the first of the highest priority started: others do not count") {
    s.runs("a1", "a", kLow, 4, 5);
    s.runs("a2", "a", 10, 4, 60);
    s.runs("b1", "b", kLow, 4, 10);
    s.runs("b2", "b", 10, 4, 0);
    s.has(wants(8));
    CHECK(s.decide() == Texts{"p gets b without b1 b2"});
  }
  SECTION("when the first of several of one priority started, not the last") {
    s.runs("a1", "a", kLow, 4, 0);
    s.runs("a2", "a", kLow, 4, 60);
    s.runs("b1", "b", kLow, 4, 10);
    s.runs("b2", "b", kLow, 4, 20);
    s.has(wants(8));
    CHECK(s.decide() == Texts{"p gets b without b1 b2"});
  }
  SECTION("the first by name") {
    s.runs("b1", "b", kLow, 8);
    s.runs("a1", "a", kLow, 8);
    s.has(wants(8));
    CHECK(s.decide() == Texts{"p gets a without a1"});
  }
  SECTION("one cordoned, one full of pods as high") {
    s.has(node("a").gpus(8).cordoned());
    s.runs("a1", "a", kLow, 8);
    s.runs("b1", "b", kHigh, 8);
    s.has(wants(8));
    CHECK(s.refusal() ==
          "0/2 nodes are available: 1 Insufficient nvidia.com/gpu, 1 node(s) were unschedulable. "
          "preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 "
          "Preemption is not helpful for scheduling.");
  }
}

TEST_CASE("why nobody is evicted is told as kube-scheduler does") {
  Preempting s;
  s.has(node("n").gpus(8));
  const std::string full = "0/1 nodes are available: 1 Insufficient nvidia.com/gpu. preemption: ";
  k8s::Pod asks = wants(8);
  SECTION("its policy is Never") {
    s.runs("low", "n", kLow, 8);
    asks.spec.preemption_policy = "Never";
    s.has(asks);
    CHECK(s.refusal() == full + "not eligible due to preemptionPolicy=Never.");
  }
  SECTION("equal priority") {
    s.runs("other", "n", kHigh, 8);
    s.has(asks);
    CHECK(s.refusal() == full +
                             "0/1 nodes are available: 1 No preemption victims found for incoming "
                             "pod.");
  }
  SECTION("more than the node has") {
    s.runs("low", "n", kLow, 8);
    s.has(wants(9));
    CHECK(s.refusal() ==
          full + "0/1 nodes are available: 1 Preemption is not helpful for scheduling.");
  }
  SECTION("too little becomes free") {
    s.runs("low", "n", kLow, 4);
    s.runs("high", "n", kHigh, 4);
    s.has(asks);
    CHECK(s.refusal() == full + "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.");
  }
}

TEST_CASE("some pods are never evicted") {
  Preempting s;
  s.has(node("n").gpus(8));
  std::string want =
      "p waits: 0/1 nodes are available: 1 Insufficient nvidia.com/gpu. preemption: "
      "0/1 nodes are available: 1 No preemption victims found for incoming pod.";
  SECTION("another scheduler's") { s.has(owned(their_pod("low").priority(kLow).gpus(8).on("n"))); }
  SECTION("one without a controller") { s.has(our_pod("low").priority(kLow).gpus(8).on("n")); }
  s.has(wants(8));
  CHECK(s.decide() == Texts{want});
}

TEST_CASE("a profile may allow that pods without a controller are evicted") {
  Preempting s({.evicts_bare_pods = true, .violates_budgets = false});
  s.has(node("n").gpus(8));
  s.has(our_pod("low").priority(kLow).gpus(8).on("n"));
  s.has(wants(8));
  CHECK(s.decide() == Texts{"p gets n without low"});
}

TEST_CASE("a PodDisruptionBudget decides who goes, and whether anybody does") {
  const auto budget = [](std::int32_t allowed) {
    k8s::PodDisruptionBudget made;
    made.metadata.name = "b";
    made.metadata.namespace_ = "default";
    made.metadata.resource_version = std::to_string(allowed);
    made.selector = selector({{"app", "x"}});
    made.disruptions_allowed = allowed;
    return event::DisruptionBudgetUpserted{made};
  };
  const auto covered = [](Preempting& s, std::string_view name, const std::string& on,
                          std::int32_t priority, int gpus) {
    s.has(owned(our_pod(name).priority(priority).gpus(gpus).labelled("app", "x").on(on)));
  };
  SECTION("with one left, the most important goes: the others are protected by it") {
    Preempting s;
    s.has(node("n").gpus(6));
    covered(s, "p1", "n", 10, 2);
    covered(s, "p2", "n", 5, 2);
    covered(s, "p3", "n", 1, 2);
    s.apply(budget(1));
    s.has(wants(2));
    CHECK(s.decide() == Texts{"p gets n without p1"});
  }
  SECTION("a node where none is violated comes before one with lower priority") {
    Preempting s;
    s.has(node("a").gpus(8));
    s.has(node("b").gpus(8));
    covered(s, "protected", "a", 1, 8);
    s.runs("high", "b", 900, 8);
    s.apply(budget(0));
    s.has(wants(8));
    CHECK(s.decide() == Texts{"p gets b without high"});
  }
  SECTION("violated only where the profile allows it, and where nothing else helps") {
    const bool allows = GENERATE(false, true);
    Preempting s({.evicts_bare_pods = false, .violates_budgets = allows});
    s.has(node("n").gpus(8));
    covered(s, "protected", "n", kLow, 8);
    s.apply(budget(0));
    s.has(wants(8));
    const Texts told = s.decide();
    REQUIRE(told.size() == 1);
    if (allows) CHECK(told[0] == "p gets n without protected");
    if (!allows) {
      CHECK_THAT(told[0], Catch::Contains("1 PodDisruptionBudget(s) would be violated"));
      // When it lets one go, that is noticed.
      s.apply(budget(1));
      s.now += 3s;
      CHECK(s.decide() == Texts{"p gets n without protected"});
    }
  }
  SECTION("of two pods in one moment the second sees what the first has used up") {
    Preempting s({.evicts_bare_pods = false, .violates_budgets = false});
    s.has(node("a").gpus(8));
    s.has(node("b").gpus(8));
    covered(s, "x1", "a", kLow, 8);
    covered(s, "x2", "b", kLow, 8);
    s.apply(budget(1));
    s.has(wants(8, kHigh, "p"));
    s.has(wants(8, kHigh, "q"));
    const Texts told = s.decide();
    REQUIRE(told.size() == 2);
    CHECK(told[0] == "p gets a without x1");
    CHECK_THAT(told[1], Catch::Contains("would be violated"));
    // A new version may not know yet that x1 goes.
    s.prepared(1);
    auto later = budget(1);
    later.object.metadata.resource_version = "later";
    s.apply(later);
    s.now += 3s;
    CHECK(s.decide().empty());
    s.pod_gone(owned(our_pod("x1").priority(kLow).gpus(8).labelled("app", "x").on("a")));
    CHECK(s.decide() == Texts{"p → a"});
    s.now += 3s;
    CHECK(s.decide() == Texts{"q gets b without x2"});
  }
  SECTION("a pod that is to be bound does not count: it does not run yet") {
    Preempting s({.evicts_bare_pods = false, .violates_budgets = false});
    s.has(node("n").gpus(8));
    s.runs("v", "n", kLow, 8);
    s.apply(budget(0));
    s.has(our_pod("p").gpus(8).priority(kMid).labelled("app", "x"));
    REQUIRE(s.decide() == Texts{"p gets n without v"});
    s.has(wants(8, kHigh, "q"));
    CHECK(s.decide().front() == "q gets n without v");
  }
  SECTION("nor one whose bind has failed, which is then deleted") {
    Preempting s({.evicts_bare_pods = false, .violates_budgets = false});
    s.has(node("n").gpus(8));
    s.has(node("o").gpus(8));
    covered(s, "x2", "o", kLow, 8);
    s.apply(budget(1));
    const k8s::Pod low = owned(our_pod("low").gpus(8).priority(kLow).labelled("app", "x"));
    s.has(low);
    REQUIRE(s.decide() == Texts{"low → n"});
    s.has(wants(8));
    REQUIRE(s.decide() == Texts{"p gets n without low"});
    s.bind_failed(low, "n");
    REQUIRE(s.decide().front() == "p → n");
    s.pod_gone(low);
    auto later = budget(1);
    later.object.metadata.resource_version = "later";
    s.apply(later);
    s.has(wants(8, kHigh, "q"));
    CHECK(s.decide() == Texts{"q gets o without x2"});
  }
  SECTION("one of several evictions is refused: the others count when they are seen") {
    Preempting s({.evicts_bare_pods = false, .violates_budgets = false});
    s.has(node("a").gpus(8));
    s.has(node("b").gpus(4));
    covered(s, "x1", "a", kLow, 4);
    covered(s, "x2", "a", kLow, 4);
    covered(s, "x3", "b", kLow, 4);
    s.apply(budget(2));
    s.has(wants(8));
    REQUIRE(s.decide() == Texts{"p gets a without x1 x2"});
    s.prepared(1, "403");
    REQUIRE(s.decide() == Texts{"p not to a: 403"});
    const auto x1 = owned(our_pod("x1").priority(kLow).gpus(4).labelled("app", "x").on("a"));
    s.terminates(x1, 10min);
    auto later = budget(1);  // another pod has gone; x1 is not counted yet
    s.apply(later);
    s.has(node("a").gpus(8).cordoned());
    s.has(wants(4, kHigh, "q"));
    CHECK_THAT(s.decide().front(), Catch::Contains("would be violated"));
  }
  SECTION("while they cannot be read, only pods that may violate them evict") {
    const bool allows = GENERATE(false, true);
    Preempting s({.evicts_bare_pods = false, .violates_budgets = allows});
    s.has(node("n").gpus(8));
    s.runs("low", "n", kLow, 8);
    s.apply(event::DisruptionBudgetsReadable{false});
    s.has(wants(8));
    const Texts told = s.decide();
    REQUIRE(told.size() == 1);
    if (allows) {
      CHECK(told[0] == "p gets n without low");
    } else {
      CHECK_THAT(told[0], Catch::EndsWith("preemption: 0/1 nodes are available: 1 "
                                          "PodDisruptionBudgets cannot be read."));
      s.apply(event::DisruptionBudgetsReadable{true});
      s.now += 3s;
      CHECK(s.decide() == Texts{"p gets n without low"});
    }
  }
}

TEST_CASE("rules across nodes hold for preemption") {
  Preempting s({.evicts_bare_pods = false, .violates_budgets = true}, {"InterPodAffinity"});
  s.has(node("a").gpus(8).labelled("zone", "z"));
  s.has(node("b").gpus(8).labelled("zone", "z"));
  SECTION("a pod on the node that keeps the other away is evicted") {
    s.has(owned(our_pod("low").priority(kLow).labelled("app", "x").on("a")));
    s.runs("full", "b", kHigh, 8);
    s.has(our_pod("p").gpus(1).priority(kHigh).away_from(
        pods_like({{"app", "x"}}, "kubernetes.io/hostname")));
    CHECK(s.decide() == Texts{"p gets a without low"});
  }
  SECTION("a pod on another node is not") {
    s.has(owned(our_pod("low").priority(kLow).labelled("app", "x").on("a")));
    s.runs("here", "b", kLow, 8);
    s.has(our_pod("p").gpus(1).priority(kHigh).away_from(pods_like({{"app", "x"}}, "zone")));
    // On a, where it is, all goes with it.
    CHECK(s.decide() == Texts{"p gets a without low"});
  }
  SECTION("who is needed near is not evicted") {
    s.has(node("b").gpus(8).labelled("zone", "other").cordoned());
    s.has(owned(our_pod("low").priority(kLow).gpus(8).labelled("app", "x").on("a")));
    s.has(our_pod("p").gpus(8).priority(kHigh).near(pods_like({{"app", "x"}}, "zone")));
    const std::string told = s.refusal();
    CHECK_THAT(told, Catch::Contains("node(s) didn't match pod affinity rules"));
    CHECK_THAT(told,
               Catch::Contains("preemption: 0/2 nodes are available: 1 Preemption is not helpful "
                               "for scheduling, 1 node(s) didn't match pod affinity rules."));
  }
}

// Of two quotas that lend each other H100s; a has 4, b has 4, the node 8.
struct TwoQuotas : Preempting {
  TwoQuotas() {
    has(h100("n"));
    has(gpu_quota("a").of("a").in_cohort("c").line("H100", 4));
    has(gpu_quota("b").of("b").in_cohort("c").line("H100", 4));
  }
};

TEST_CASE("no priority takes from a quota what it is guaranteed") {
  TwoQuotas s;
  SECTION("what it has within its guarantee stays") {
    s.runs("a", "mine", "n", kHigh, 4);
    s.runs("b", "low", "n", kLow, 4);
    s.has(in("a", "p", 4).priority(kHigh));
    CHECK_THAT(s.decide().at(0), Catch::Contains("No preemption victims found for incoming pod"));
  }
  SECTION("not by a pod without quota either") {
    s.runs("a", "mine", "n", kLow, 4);
    s.runs("b", "low", "n", kLow, 4);
    s.has(in("nobody", "p", 4).priority(kHigh));
    CHECK_THAT(s.decide().at(0), Catch::Contains("No preemption victims found for incoming pod"));
  }
  SECTION("what it has borrowed goes, and no more than that") {
    const k8s::Pod first = s.runs("b", "b1", "n", kLow, 4);
    const k8s::Pod second = s.runs("b", "b2", "n", kLow, 4);
    s.has(in("a", "p", 4).priority(kHigh));
    CHECK(s.decide() == Texts{"p gets n without b2"});
    s.has(in("a", "q", 4).priority(kHigh));
    CHECK_THAT(s.decide().at(0), Catch::Contains("q waits"));
  }
  SECTION("a pod that would borrow takes nothing from others") {
    s.runs("a", "mine", "n", kHigh, 4);
    s.runs("b", "b1", "n", kLow, 2);
    s.runs("nobody", "free", "n", kLow, 2);
    s.has(in("a", "p", 2).priority(kHigh));
    CHECK_THAT(s.decide().at(0), Catch::Contains("p waits"));
  }
}

TEST_CASE("a quota keeps its guarantee also where its pods leave on several nodes") {
  Preempting s;
  s.has(h100("n1"));
  s.has(h100("n2"));
  s.has(node("n3").gpus(8).product(kH100).cpu("64").cordoned());
  s.has(gpu_quota("a").of("a").in_cohort("c").line("H100", 16));
  s.has(gpu_quota("b").of("b").in_cohort("c").line("H100", 8));
  const k8s::Pod first = s.runs("b", "b1", "n1", kLow, 8);
  s.runs("b", "b2", "n2", kLow, 8);  // b borrows 8
  SECTION("evicted for another pod") {
    s.has(in("a", "p", 8).priority(kHigh));
    s.has(in("a", "q", 8).priority(kHigh));
    const Texts told = s.decide();
    REQUIRE(told.size() == 2);
    CHECK(told[0] == "p gets n1 without b1");
    CHECK_THAT(told[1], Catch::Contains("q waits"));
  }
  SECTION("deleted by somebody") {
    s.terminates(first);
    s.has(in("a", "p", 8).priority(kHigh));
    CHECK(s.decide() == Texts{"p gets n1 without"});
    s.has(in("a", "q", 8).priority(kHigh));
    CHECK_THAT(s.decide().at(0), Catch::Contains("q waits"));
  }
}

TEST_CASE("a quota that is used up makes room by its own pods of lower priority") {
  Preempting s;
  s.has(h100("m"));
  s.has(h100("n"));
  s.has(gpu_quota("a").of("a").line("H100", 8));
  const k8s::Pod low = s.runs("a", "low", "n", kLow, 8);
  s.has(in("a", "p", 8).priority(kHigh));
  CHECK(s.decide() == Texts{"p gets n without low"});
  s.prepared(1);
  // Both are charged until the victim is gone.
  CHECK(s.use("a") == use(8, 16));
  s.has(in("a", "q", 1).priority(kHigh));
  CHECK(s.decide().size() == 1);
  s.pod_gone(low);
  CHECK(s.decide() == Texts{"p → n"});
  CHECK(s.use("a").used == k8s::Quantity::of(8));
}

TEST_CASE("nobody is evicted for a pod whose claim is missing, until it is there") {
  Preempting s({.evicts_bare_pods = false, .violates_budgets = true},
               {"VolumeRestrictions", "VolumeBinding"});
  s.has(h100("a"));
  s.has(gpu_quota("q").of("ml").line("H100", 4));
  s.runs("ml", "low", "a", kLow, 4);
  s.has(in("ml", "p", 2).priority(kHigh).mounts_claim("data"));
  // Its quota is what it is told of first.
  CHECK_THAT(s.decide().at(0), Catch::StartsWith("p waits: quota q: H100 needs 2"));
  s.now += 60s;
  CHECK(s.decide().empty());
  k8s::PersistentVolumeClaim data = claim("data", "data");
  data.metadata.namespace_ = "ml";
  s.has(volume("data"));
  s.has(data);
  s.now += 10s;
  CHECK(s.decide() == Texts{"p gets a without low"});
}

TEST_CASE("of two nodes that are full that one is chosen where a victim's volume leaves, too") {
  Preempting s({.evicts_bare_pods = false, .violates_budgets = true}, {"NodeVolumeLimits"});
  k8s::StorageClass made;
  made.metadata.name = "made";
  made.provisioner = "d";
  s.apply(event::Upserted<k8s::StorageClass>{made});
  for (const char* name : {"c0", "c1", "c2"}) {
    k8s::PersistentVolumeClaim its = claim(name, "");
    its.storage_class = "made";
    s.has(its);
  }
  for (const char* name : {"a", "b"}) {
    s.has(node(name).gpus(8));
    k8s::CsiNode limited;
    limited.metadata.name = name;
    limited.drivers = {{"d", 1}};
    s.apply(event::Upserted<k8s::CsiNode>{limited});
  }
  // On a, the volume is that of a pod which stays.
  s.has(our_pod("stays").priority(kHigh).gpus(1).on("a").mounts_claim("c0"));
  s.has(owned(our_pod("without").priority(kLow).gpus(7).on("a")));
  s.has(owned(our_pod("with").priority(kMid).gpus(8).on("b").mounts_claim("c1")));
  s.has(our_pod("p").priority(kHigh).gpus(2).mounts_claim("c2"));
  CHECK(s.decide() == Texts{"p gets b without with"});
}

TEST_CASE("a pod that would borrow gets room that becomes free anyway") {
  TwoQuotas s;
  s.runs("a", "mine", "n", kHigh, 4);
  s.terminates(s.runs("nobody", "free", "n", kLow, 4));
  s.has(in("a", "p", 2).priority(kHigh));
  CHECK(s.decide() == Texts{"p gets n without"});
}

TEST_CASE("nobody is evicted while enough quota comes back from pods that leave elsewhere") {
  Preempting s;
  s.has(h100("n1"));
  s.has(h100("n2"));
  s.has(gpu_quota("a").of("a").line("H100", 8));
  const k8s::Pod going = s.runs("a", "going", "n1", kLow, 4);
  const bool has_empty_node = GENERATE(false, true);
  s.runs("a", "stays", has_empty_node ? "n3" : "n2", kLow, 4);
  if (has_empty_node) {
    s.has(h100("n3"));
    s.runs("others", "n3", kHigh, 4);
  }
  s.has(node("n1").gpus(8).product(kH100).cpu("64").cordoned());
  s.terminates(going);
  s.has(in("a", "p", 4).priority(kHigh));
  CHECK_THAT(s.refusal(), Catch::Contains("still used by pods that are being deleted"));
  SECTION("it comes") {
    s.pod_gone(going);
    CHECK(s.decide() == Texts{"p → n2"});
  }
  SECTION("it does not: the pod hangs") {
    s.now += 89s;
    static_cast<void>(s.decide());
    const std::string node = has_empty_node ? "n3" : "n2";
    CHECK(s.decide_within(2s).front().starts_with("p gets " + node + " without stays"));
  }
}

TEST_CASE("quota that a pod would only borrow is not waited for: others may have it first") {
  Preempting s;
  s.has(h100("n1"));
  s.has(h100("n2"));
  s.has(gpu_quota("a").of("a").in_cohort("c").line("H100", 4));
  s.has(gpu_quota("b").of("b").in_cohort("c").line("H100", 4));
  const k8s::Pod going = s.runs("b", "going", "n1", kLow, 4);
  s.runs("a", "low", "n2", kLow, 4);
  s.has(node("n1").gpus(8).product(kH100).cpu("64").cordoned());
  s.terminates(going);
  s.has(in("a", "p", 4).priority(kHigh));
  CHECK(s.decide() == Texts{"p gets n2 without low"});
}

TEST_CASE("a pod without its turn evicts nobody") {
  Preempting s;
  s.has(h100("n"));
  s.has(gpu_quota("a").of("a").line("H100", 8).strict());
  s.runs("a", "low", "n", kLow, 8);
  k8s::Pod never = in("a", "first", 8).priority(kHigh + 1);
  never.spec.preemption_policy = "Never";
  s.has(never);
  s.has(in("a", "p", 8).priority(kHigh));
  const Texts told = s.decide();
  REQUIRE(told.size() == 2);
  CHECK_THAT(told[0], Catch::Contains("first waits"));
  CHECK_THAT(told[1], Catch::Contains("p waits"));
  s.pod_gone(never);
  CHECK(s.decide() == Texts{"p gets n without low"});
}
