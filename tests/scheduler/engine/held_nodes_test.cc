// Which node is kept for a pod that has waited long, and until when.
#include "tests/scheduler/engine/held_nodes.h"

#include <algorithm>
#include <chrono>
#include <random>
#include <string>
#include <vector>

using namespace sched;
using namespace tests;
using namespace std::chrono_literals;

TEST_CASE("the node that is held lacks least: devices first, then CPU, then memory, then by name") {
  struct Case {
    const char* name;
    PodBuilder on_a;
    PodBuilder on_b;
    const char* want;
  };
  const auto taken = [](const char* name, int gpus, const char* cpu, const char* memory) {
    return our_pod(name).gpus(gpus).cpu(cpu).memory(memory);
  };
  const Case cases[] = {
      {"fewer devices, more CPU and memory", taken("x", 2, "1", "1Gi"), taken("y", 1, "60", "60Gi"),
       "b"},
      {"less CPU, more memory", taken("x", 1, "60", "1Gi"), taken("y", 1, "1", "60Gi"), "b"},
      {"less memory", taken("x", 1, "60", "60Gi"), taken("y", 1, "60", "50Gi"), "b"},
      {"all the same", taken("x", 1, "60", "60Gi"), taken("y", 1, "60", "60Gi"), "a"},
      {"what is more than enough does not count", taken("x", 1, "20", "20Gi"),
       taken("y", 1, "1", "1Gi"), "a"},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    QuotaCluster s;
    for (const char* name : {"a", "b"}) {
      s.has(node(name).gpus(8).product(kH100).cpu("64").memory("64Gi"));
    }
    s.has(PodBuilder(c.on_a).on("a"));
    s.has(PodBuilder(c.on_b).on("b"));
    s.has(gpu_quota("q").of("ml").line("H100", 8));
    s.has(in("ml", "large", 8).cpu("32").memory("32Gi"));
    REQUIRE(s.decide().size() == 1);
    s.now = kStart + kHoldAfter;
    CHECK(holds(details(s)["large"], c.want));
  }
}

TEST_CASE("a node whose GPUs the quota does not give is not held, however little it lacks") {
  QuotaCluster s;
  s.has(h100("a"));
  s.has(l4("b"));
  s.has(our_pod("x").gpus(8).on("a"));
  s.has(our_pod("y").gpus(1).on("b"));
  s.has(gpu_quota("q").of("ml").line("H100", 8));
  s.has(in("ml", "large", 4));
  REQUIRE(s.decide().size() == 1);
  s.now = kStart + kHoldAfter;
  CHECK(holds(details(s)["large"], "a"));
}

TEST_CASE("a held node whose GPUs become a type that the quota does not give is let go at once") {
  QuotaCluster s;
  s.has(h100("a"));
  s.has(l4("b"));
  s.has(h100("c"));
  s.has(our_pod("x").gpus(8).on("a"));
  s.has(our_pod("y").gpus(4).on("b"));
  s.has(our_pod("z").gpus(8).on("c"));
  s.has(gpu_quota("q").of("ml").line("H100", 8));
  s.has(in("ml", "large", 4));
  s.has(our_pod("plain").gpus(8));
  REQUIRE(s.decide().size() == 2);
  s.now = kStart + kHoldAfter;
  REQUIRE(holds(details(s)["large"], "a"));
  s.now += 20s;
  s.has(l4("a", 8));
  CHECK(holds(details(s)["large"], "c"));
  s.pod_gone(our_pod("x"));
  CHECK(s.decide() == Texts{"plain → a"});
}

TEST_CASE("a pod that found all nodes held for others is given one that is let go") {
  QuotaCluster s;
  s.has(node("a").gpus(4).product(kH100).cpu("64"));
  s.has(gpu_quota("q1").of("one").line("H100", 4));
  s.has(gpu_quota("q2").of("two").line("H100", 4));
  s.has(our_pod("guest").gpus(4).on("a"));
  s.has(in("one", "first", 4));
  s.has(in("two", "second", 4).created_at(kStart + 1s));
  REQUIRE(s.decide().size() == 2);
  s.now = kStart + kHoldAfter + 1s;
  auto told = details(s);
  CHECK(holds(told["first"], "a"));
  CHECK_FALSE(holds(told["second"], "a"));
  s.pod_gone(in("one", "first", 4));
  told = details(s);
  CHECK(holds(told["second"], "a"));
  // So no other pod takes what becomes free there.
  s.has(our_pod("small").gpus(1));
  s.has(our_pod("guest").gpus(2).on("a"));
  for (const std::string& each : s.decide()) CHECK(each.find("→") == std::string::npos);
  s.pod_gone(our_pod("guest"));
  CHECK(s.decide().at(0) == "second → a");
}

TEST_CASE(
    "a pod that found no node to hold is given one that comes back, ten seconds later at most") {
  QuotaCluster s;
  s.has(gpu_quota("q").of("ml").line("H100", 16));
  s.has(h100("a"));
  for (const char* name : {"a", "b"}) s.has(our_pod("guest-" + std::string(name)).gpus(8).on(name));
  const auto is_cordoned = [&](bool yes) {
    NodeBuilder b = node("b").gpus(8).product(kH100).cpu("64");
    s.has(yes ? b.cordoned() : b);
  };
  is_cordoned(true);
  s.has(in("ml", "first", 8));
  s.has(in("ml", "second", 8).created_at(kStart + 1s));
  REQUIRE(s.decide().size() == 2);
  s.now = kStart + kHoldAfter + 1s;
  auto told = details(s);
  REQUIRE(holds(told["first"], "a"));
  REQUIRE_FALSE(holds(told["second"], "b"));
  s.now += 9s;
  is_cordoned(false);
  // A search looks at all nodes.
  CHECK_FALSE(holds(details(s)["second"], "b"));
  CHECK(s.engine.next_wakeup() == s.now + 1s);
  s.now += 1s;
  CHECK(holds(details(s)["second"], "b"));
  // So no other pod takes what becomes free there.
  s.has(our_pod("small").gpus(1));
  s.has(our_pod("guest-b").gpus(6).on("b"));
  for (const std::string& each : s.decide()) CHECK(each.find("→") == std::string::npos);
  s.pod_gone(our_pod("guest-b"));
  CHECK(s.decide().at(0) == "second → b");
}

TEST_CASE("a node stays held while its device plugin restarts") {
  QuotaCluster s;
  s.has(h100("a"));
  s.has(gpu_quota("q").of("ml").line("H100", 8));
  const auto offers = [&](int gpus) { return node("a").gpus(gpus).product(kH100).cpu("64"); };
  s.has(our_pod("guest").gpus(1).on("a"));
  s.has(in("ml", "large", 8));
  REQUIRE(s.decide().size() == 1);
  s.now = kStart + kHoldAfter;
  REQUIRE(holds(details(s)["large"], "a"));
  s.now += 1min;
  s.has(offers(0));
  static_cast<void>(s.decide());
  s.has(our_pod("small").gpus(1).created_at(s.now));
  s.has(in("ml", "other", 1).created_at(s.now));
  const auto is_large_alone = [&] {
    for (const std::string& each : s.decide()) CHECK(each.find("→") == std::string::npos);
    s.pod_gone(our_pod("guest"));
    CHECK(s.decide() == Texts{"large → a"});
  };
  SECTION("for a few seconds") {
    s.has(offers(8));
    is_large_alone();
  }
  SECTION("for a minute, in which other things of the node change") {
    s.now += 30s;
    static_cast<void>(s.decide());
    s.has(offers(0).labelled("rack", "r1"));
    static_cast<void>(s.decide());
    s.now += 30s;
    s.has(offers(8));
    is_large_alone();
  }
  SECTION("not for longer") {
    s.now += 2min;
    static_cast<void>(s.decide());
    s.has(offers(8));
    CHECK(s.decide().size() > 1);
    CHECK(s.engine.gpu_node("a")->pieces.at(0).used == 3);
  }
  SECTION("not if it is cordoned, its GPUs are repartitioned, or it is another node, meanwhile") {
    const std::string what = GENERATE("cordoned", "repartitioned", "another");
    CAPTURE(what);
    NodeBuilder closed = offers(0);
    if (what == "cordoned") closed.cordoned();
    if (what == "repartitioned") closed.labelled("nvidia.com/mig.config.state", "pending");
    if (what == "another") closed.uid("another");
    s.has(closed);
    static_cast<void>(s.decide());
    s.now += 10s;
    static_cast<void>(s.decide());
    s.has(offers(8).uid(closed.object().metadata.uid));
    CHECK(s.decide().size() > 1);
    CHECK(s.engine.gpu_node("a")->pieces.at(0).used == 3);
  }
}

TEST_CASE("pods that need a node each wait for their nodes at the same time") {
  QuotaCluster s;
  const std::vector<std::string> nodes{"a", "b", "c", "d"};
  s.has(gpu_quota("q").of("ml").line("H100", 32));
  std::vector<k8s::Pod> running;
  for (const std::string& name : nodes) {
    s.has(h100(name));
    for (int i = 0; i < 8; ++i) {
      running.push_back(in("ml", name + std::to_string(i), 1).on(name));
      s.has(running.back());
    }
  }
  for (const std::string& name : nodes) s.has(in("ml", "large-" + name, 8));
  REQUIRE(s.decide().size() == 4);
  s.now = kStart + kHoldAfter;
  static_cast<void>(s.decide());
  // Whenever a pod ends, a small one comes. None of these gets what the large ones wait for, so
  // these run as soon as the pods that ran before them have ended.
  std::mt19937 random(1);
  std::shuffle(running.begin(), running.end(), random);
  int placed = 0;
  for (const k8s::Pod& pod : running) {
    s.pod_gone(pod);
    s.now += 1s;
    s.has(in("ml", "small-" + pod.metadata.name, 1).created_at(s.now));
    for (const std::string& each : s.decide()) {
      CHECK_FALSE((each.starts_with("small") && each.find(" → ") != std::string::npos));
      if (each.starts_with("large") && each.find(" → ") != std::string::npos) ++placed;
    }
  }
  CHECK(placed == 4);
}

TEST_CASE("a pod takes the node that was held for it, whichever others of its kind wait") {
  QuotaCluster s;
  // Each of the large pods can go to one of the nodes alone.
  for (const char* name : {"a", "b"}) {
    s.has(h100(name));
    s.has(our_pod("guest-" + std::string(name)).gpus(8).on(name));
  }
  s.has(gpu_quota("q").of("ml").line("H100", 16));
  s.has(in("ml", "first", 8));
  s.has(in("ml", "second", 8).created_at(kStart + 1s));
  REQUIRE(s.decide().size() == 2);
  s.now = kStart + kHoldAfter + 1s;
  auto told = details(s);
  CHECK(holds(told["first"], "a"));
  CHECK(holds(told["second"], "b"));
  s.has(in("ml", "urgent", 8).priority(10).created_at(s.now));
  CHECK_THAT(s.decide().at(0), Catch::Contains("what is freed is kept"));
  // On b there is room for the pod alone for which it is held.
  s.has(our_pod("other-b").gpus(1).on("b"));
  s.pod_gone(our_pod("guest-a"));
  CHECK(s.decide().at(0) == "first → a");
  s.pod_gone(our_pod("guest-b"));
  static_cast<void>(s.decide());
  s.pod_gone(our_pod("other-b"));
  CHECK(s.decide().at(0) == "second → b");
}

TEST_CASE("a pod may borrow at once on the node held for it, if it is not guaranteed any more") {
  QuotaCluster s;
  s.has(h100("a"));
  s.has(l4("b", 8));
  s.has(gpu_quota("q").of("ml").in_cohort("c").generation(1).line("H100", 8).line("L4", 8));
  s.has(gpu_quota("other").of("other").in_cohort("c").line("H100", 8));
  s.has(our_pod("guest-a").gpus(4).on("a"));
  s.has(our_pod("guest-b").gpus(8).on("b"));
  s.has(in("ml", "large", 8));
  REQUIRE(s.decide().size() == 1);
  s.now = kStart + kHoldAfter;
  REQUIRE(holds(details(s)["large"], "a"));
  s.has(gpu_quota("q").of("ml").in_cohort("c").generation(2).line("H100", 0).line("L4", 8));
  s.pod_gone(our_pod("guest-a"));
  CHECK(s.decide() == Texts{"large → a"});
}
