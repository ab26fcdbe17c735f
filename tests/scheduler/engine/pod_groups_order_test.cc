// Which pods of a group get nodes, in which order, and when a group has its turn among others.
#include "tests/scheduler/engine/grouped_pods.h"

#include <chrono>
#include <string>
#include <vector>

using namespace sched;
using namespace tests;
using namespace std::chrono_literals;

TEST_CASE(
    "the pods of a group that ask for most are seated first: by GPUs, then CPU, then memory") {
  // Two of 5 and two of 3 fit on two nodes of 8, but not if those of 3 come first: both are put on
  // one node then.
  struct Amounts {
    int gpus;
    const char* cpu;
    const char* memory;
  };
  struct Case {
    const char* name;
    Amounts small;
    Amounts large;
  };
  const Case cases[] = {
      {"GPUs, whatever the rest", {3, "2", "2Gi"}, {5, "1", "1Gi"}},
      {"CPU, whatever the memory", {1, "3", "2Gi"}, {1, "5", "1Gi"}},
      {"memory", {1, "1", "3Gi"}, {1, "1", "5Gi"}},
      {"memory alone", {0, "1", "3Gi"}, {0, "1", "5Gi"}},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    Groups s;
    for (const char* name : {"a", "b"}) s.has(node(name).gpus(8).cpu("8").memory("8Gi"));
    int made = 0;
    for (const Amounts& asks : {c.small, c.small, c.large, c.large}) {
      s.has(of("train", 4, made++, asks.gpus).cpu(asks.cpu).memory(asks.memory));
    }
    CHECK(s.outcome() == all_bound(4));
  }
}

TEST_CASE("pods with GPUs are seated before larger ones without") {
  Groups s;
  s.has(gpu_quota("team").of("default").line(kH100, 16));
  // If the pods without GPUs came first, one of them would be on a.
  s.has(node("a").gpus(8).product(kH100).cpu("8"));
  s.has(node("b").cpu("8"));
  s.has(of("train", 2, 0, 0).cpu("8"));
  s.has(of("train", 2, 1, 8).cpu("1"));
  CHECK(s.outcome() == all_bound(2));
}

TEST_CASE("the oldest pods start together, though a younger one asks for more") {
  Groups s;
  s.now += 10s;
  s.has(of("train", 2, 0, 8).created_at(kStart + 2s));
  s.has(of("train", 2, 1, 4).created_at(kStart + 1s));
  s.has(of("train", 2, 2, 4).created_at(kStart));
  REQUIRE(s.outcome().bound == 0);
  s.has_nodes(1);
  const Texts made = s.decide();
  REQUIRE(made.size() == 3);
  CHECK(made[0] == "train-2 → n0");
  CHECK(made[1] == "train-1 → n0");
}

TEST_CASE("a group has its turn by its oldest pod and its lowest priority") {
  Groups s;
  s.now += 10s;
  SECTION("the oldest pod, whichever came first") {
    const bool oldest_first = GENERATE(false, true);
    s.has(of("train", 2, 0, 4).created_at(kStart + (oldest_first ? 1s : 3s)));
    s.has(of("train", 2, 1, 4).created_at(kStart + (oldest_first ? 3s : 1s)));
    s.has(our_pod("single").gpus(8).created_at(kStart + 2s));
    REQUIRE(s.outcome().bound == 0);
    s.has_nodes(1);
    CHECK(s.outcome().bound == 2);
  }
  SECTION("a pod of low priority does not start earlier because others of its group are higher") {
    s.has(of("train", 2, 0, 4).priority(9));
    s.has(of("train", 2, 1, 4).priority(1));
    s.has(our_pod("single").gpus(8).priority(5).created_at(kStart + 1s));
    REQUIRE(s.outcome().bound == 0);
    s.has_nodes(1);
    CHECK(s.decide().at(0) == "single → n0");
  }
  SECTION("the same, when the lowest came first") {
    s.has(of("train", 2, 0, 4).priority(1));
    s.has(of("train", 2, 1, 4).priority(9));
    s.has(our_pod("single").gpus(8).priority(5).created_at(kStart + 1s));
    REQUIRE(s.outcome().bound == 0);
    s.has_nodes(1);
    CHECK(s.decide().at(0) == "single → n0");
  }
}

TEST_CASE("a group has waited long since there are enough pods, not since the first came") {
  Groups s;
  s.has(h100("a"));
  s.has(gpu_quota("team").of("vision").line(kH100, 8));
  std::vector<k8s::Pod> small;
  for (int i = 0; i < 8; ++i) {
    small.push_back(in("vision", "small-" + std::to_string(i), 1));
    s.has(small.back());
  }
  REQUIRE(s.outcome() == all_bound(8));
  const auto comes = [&](int i) {
    PodBuilder made = in("vision", "train-" + std::to_string(i), 2).created_at(s.now);
    s.has(member(made, "train", 3));
    CHECK(s.outcome().bound == 0);
  };
  comes(0);
  comes(1);
  s.now += 9min;
  comes(2);
  s.now += 2min;
  // One that is freed is another pod's still.
  s.pod_gone(small[0]);
  s.has(in("vision", "next", 1).created_at(s.now));
  CHECK(s.outcome().bound == 1);
  s.now += 9min;
  static_cast<void>(s.decide());
  s.pod_gone(small[1]);
  s.has(in("vision", "last", 1).created_at(s.now));
  CHECK(s.outcome().bound == 0);
}
