// When pods that have no room are searched for: who goes first, and that nobody is forgotten.
#include "scheduler/engine/backoffs/rejected_pod.h"
#include "tests/scheduler/engine/preempting.h"
#include "tests/support/catch.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>

using namespace sched;
using namespace tests;
using namespace std::chrono_literals;

namespace {

// A cluster in which a search costs so much that what is saved up is enough for less than
// kSearches: each node has a pod that stays, and seven that may go.
struct Dear : Preempting {
  static constexpr int kNodes = 1'000;
  static constexpr int kSearches = 30;

  Dear() {
    for (int i = 0; i < kNodes; ++i) {
      const std::string name = "n" + std::to_string(i);
      has(node(name).gpus(8).cpu("64"));
      runs("stays-" + name, name, kHigh, 1);
      for (int gpu = 1; gpu < 8; ++gpu) runs("low-" + std::to_string(gpu) + name, name, kLow, 1);
    }
  }
  // A pod of a kind of its own for which all that may go is not enough.
  void asks_for_too_much(int number, std::string_view namespace_ = "many") {
    const std::string name = "big-" + std::to_string(number);
    has(in(namespace_, name, 8).priority(kMid).cpu(std::to_string(number + 1) + "m"));
  }
  [[nodiscard]] static bool searched(const std::string& told) {
    return told.find("preemption: 0/") != std::string::npos;
  }
};

}  // namespace

TEST_CASE("a pod that waits is looked at again when there is somebody to evict") {
  Preempting s;
  s.has(node("n").gpus(8));
  const k8s::Pod other = s.runs("other", "n", kHigh, 4);
  s.runs("low", "n", kLow, 4);
  s.has(wants(8));
  REQUIRE(s.decide().size() == 1);
  s.pod_gone(other);
  // Not at once: a search is dear.
  CHECK(s.decide().empty());
  const Time asked = s.now;
  CHECK(s.decide_within(5s) == Texts{"p gets n without low"});
  CHECK(s.now == asked + 2s);
}

TEST_CASE("a pod is looked at when something changes, though another waits for a time") {
  Preempting s;
  s.has(node("a").gpus(1));
  const k8s::Pod refused = wants(1, kLow, "refused");
  s.has(refused);
  for (int i = 0; i < 2; ++i) {
    REQUIRE(s.decide() == Texts{"refused → a"});
    s.bind_failed(refused, "a");
    s.now += 20s;
  }
  s.has(node("n").gpus(8));
  const k8s::Pod other = s.runs("other", "n", kHigh, 4);
  s.runs("low", "n", kLow, 4);
  s.has(wants(8));
  REQUIRE(s.decide().size() == 2);  // the first waits until its node is tried again
  s.now += 5s;
  REQUIRE(s.decide() == Texts{});
  s.pod_gone(other);
  CHECK(s.decide_within(5s) == Texts{"p gets n without low"});
}

TEST_CASE("a pod is looked at when nothing has changed but what its rules read") {
  Preempting s({.evicts_bare_pods = false, .violates_budgets = true}, {"VolumeBinding"});
  s.has(node("n").gpus(8).labelled("host", "n"));
  s.runs("low", "n", kLow, 8);
  k8s::PersistentVolume data = volume("data");
  data.node_affinity = k8s::NodeSelector{{term({label("host").in({"m"})})}};
  s.has(data);
  s.has(claim("data", "data"));
  s.has(our_pod("p").gpus(8).priority(kHigh).mounts_claim("data"));
  REQUIRE(s.decide().size() == 1);
  data.node_affinity = k8s::NodeSelector{{term({label("host").in({"n"})})}};
  s.has(data);
  CHECK(s.decide_within(5s) == Texts{"p gets n without low"});
}

TEST_CASE("a pod is looked at when its node is not left out any more for what it asks for") {
  Preempting s;
  s.has(node("n").gpus(8).cpu("64"));
  const auto asks = [](std::string_view name) {
    return our_pod(name).gpus(8).cpu("8").priority(kHigh);
  };
  s.has(asks("first"));
  REQUIRE(s.decide() == Texts{"first → n"});
  s.bind_succeeded(asks("first"), "n");
  const k8s::Pod failed = asks("first").on("n").failed("TopologyAffinityError");
  const auto rejection = rejection_of(failed);
  REQUIRE(rejection);
  s.apply(*rejection);
  s.has(failed);
  s.runs("low", "n", kLow, 8);
  s.has(asks("second"));
  REQUIRE_THAT(s.decide().at(0), Catch::Contains("rejected a pod with the same requests"));
  const Time asked = s.now;
  CHECK(s.decide_within(2min) == Texts{"second gets n without low"});
  CHECK(s.now == asked + 1min);
}

TEST_CASE("a pod is not refused because another that asks for the same has rules of its own") {
  Preempting s({.evicts_bare_pods = false, .violates_budgets = true}, {"InterPodAffinity"});
  s.has(node("n").gpus(8));
  s.has(our_pod("db").priority(kHigh).labelled("app", "db").on("n"));
  const k8s::Pod other = s.runs("other", "n", kHigh, 4);
  s.runs("low", "n", kLow, 4);
  s.has(our_pod("x").gpus(8).priority(kHigh).away_from(
      pods_like({{"app", "db"}}, "kubernetes.io/hostname")));
  s.has(wants(8, kHigh, "y"));
  REQUIRE(s.decide().size() == 2);
  s.pod_gone(other);
  s.now += 2s;
  CHECK(s.decide() == Texts{"y gets n without low"});
}

TEST_CASE("a pod that asks for something else by now is not searched for in place of others") {
  Preempting s;
  s.has(h100("n"));
  const k8s::Pod other = s.runs("other", "n", kHigh, 4);
  s.runs("low", "n", kLow, 4);
  s.has(wants(8, kHigh, "changes"));
  s.has(wants(8, kHigh, "p"));
  REQUIRE(s.decide().size() == 2);
  s.has(our_pod("changes").gpus(8).priority(kHigh).annotated(kType, "L4"));
  REQUIRE(s.decide().size() == 1);
  s.pod_gone(other);
  CHECK(s.decide_within(5s) == Texts{"p gets n without low"});
}

TEST_CASE("a pod that may not preempt takes nobody's turn") {
  Preempting s;
  s.has(node("n").gpus(8));
  const k8s::Pod other = s.runs("other", "n", kHigh, 4);
  s.runs("low", "n", kLow, 4);
  k8s::Pod never = wants(8, kHigh, "never");
  never.spec.preemption_policy = "Never";
  s.has(never);
  s.has(wants(8, kHigh, "p"));
  REQUIRE(s.decide().size() == 2);
  s.pod_gone(other);
  s.now += 2s;
  CHECK(s.decide() == Texts{"p gets n without low"});
}

TEST_CASE("the turn of a pod that finds room is the next one's") {
  Preempting s;
  s.has(node("n").gpus(8));
  const k8s::Pod other = s.runs("other", "n", kHigh, 4);
  s.runs("low", "n", kLow, 4);
  s.has(wants(8, kHigh, "p"));
  s.has(wants(8, kHigh, "q"));
  REQUIRE(s.decide().size() == 2);
  s.pod_gone(other);
  s.now += 2s;
  s.has(node("m").gpus(8));
  REQUIRE(s.decide().front() == "p → m");
  CHECK(s.decide_within(5s) == Texts{"q gets n without low"});
}

TEST_CASE("many kinds of one namespace do not keep another's from a search") {
  Dear s;
  for (int i = 0; i < 2 * Dear::kSearches; ++i) s.asks_for_too_much(i);
  const Texts told = s.decide();
  REQUIRE(told.size() == 2 * Dear::kSearches);
  CHECK(Dear::searched(told.front()));
  CHECK_THAT(told.back(), Catch::EndsWith(" preemption: not tried yet."));
  s.has(in("few", "p", 4).priority(kMid));
  CHECK_THAT(s.decide().at(0), Catch::EndsWith(" preemption: not tried yet."));
  // The turn that a search gives is not lost because others have used up the rest.
  CHECK_THAT(s.decide_within(200ms).at(0), Catch::StartsWith("p gets n0 without "));
}

TEST_CASE("a search that would take long is gone on with, though nothing changes") {
  Preempting s({.evicts_bare_pods = false, .violates_budgets = true}, {"InterPodAffinity"});
  constexpr int kNodes = 3'000;
  for (int i = 0; i < kNodes; ++i) {
    const std::string name = "n" + std::to_string(1'000'000 + i);
    s.has(node(name).gpus(8));
    if (i + 1 < kNodes) s.has(our_pod("db-" + name).priority(kHigh).labelled("app", "db").on(name));
    s.runs("low-" + name, name, kLow, 8);
  }
  s.has(our_pod("p").gpus(8).priority(kMid).away_from(
      pods_like({{"app", "db"}}, "kubernetes.io/hostname")));
  REQUIRE_THAT(s.decide().at(0), Catch::Contains(" not tried for preemption"));
  CHECK(s.decide_within(10s) == Texts{"p gets n1002999 without low-n1002999"});
}

TEST_CASE("quota that is coming back is waited for in each part of a long search") {
  Preempting s({.evicts_bare_pods = false, .violates_budgets = true}, {"InterPodAffinity"});
  constexpr int kNodes = 1'500;
  s.has(gpu_quota("a").of("a").line("H100", kNodes + 3));
  const auto comes = [&](const std::string& name, bool has_low, bool has_db) {
    s.has(node(name).gpus(1).product(kH100));
    if (has_low) s.runs("a", "low-" + name, name, kLow, 1);
    const std::string db = "db-" + name;
    if (has_db) s.has(our_pod(db).in_namespace("a").priority(kHigh).labelled("app", "db").on(name));
  };
  // By name: the pod could evict others on the first node and on the last but two; the last takes
  // it as it is, once its quota is there.
  comes("a-first", true, false);
  for (int i = 0; i < kNodes; ++i) comes("n" + std::to_string(1'000'000 + i), true, true);
  comes("x-late", true, false);
  comes("y-ruled-out", false, true);
  comes("z-empty", false, false);
  s.has(node("b-cordoned").gpus(1).product(kH100).cordoned());
  const k8s::Pod going = s.runs("a", "going", "b-cordoned", kLow, 1);
  s.terminates(going);
  s.has(in("a", "p", 1)
            .priority(kHigh)
            .away_from(pods_like({{"app", "db"}}, "kubernetes.io/hostname")));
  const std::string told = s.refusal();
  CHECK_THAT(told, Catch::Contains(" not tried for preemption"));
  CHECK_THAT(told, Catch::Contains("1 node(s) have room, but the quota is still used by pods that "
                                   "are being deleted"));
  CHECK(s.decide_within(20s).empty());
  SECTION("it comes") {
    s.pod_gone(going);
    CHECK(s.decide() == Texts{"p → z-empty"});
  }
  SECTION("it does not: the pod hangs") {
    CHECK_THAT(s.decide_within(100s).at(0),
               Catch::StartsWith("p gets a-first without low-a-first"));
    CHECK(s.now >= kStart + 90s);
  }
}

TEST_CASE("what was begun for a pod before a restart goes on, however many searches there are") {
  Dear s;
  s.has(node("x").gpus(8).tainted("pool"));
  const k8s::Pod first = s.runs("first", "x", kLow, 4);
  const k8s::Pod second = s.runs("second", "x", kLow, 4);
  for (int i = 0; i < 2 * Dear::kSearches; ++i) s.asks_for_too_much(i);
  k8s::Pod pod = our_pod("p").gpus(8).priority(kMid).tolerates("pool");
  s.has(our_pod("small").gpus(1).priority(kLow).tolerates("pool"));
  SECTION("its victims are being deleted") {
    pod.status.nominated_node_name = "x";
    s.terminates(first);
    s.terminates(second);
    s.has(pod);
    const Texts told = s.decide();
    CHECK(std::count(told.begin(), told.end(), "p gets x without") == 1);
    s.pod_gone(first);
    for (const std::string& text : s.decide()) CHECK_FALSE(text == "small → x");
  }
  SECTION("one of them is") {
    pod.status.nominated_node_name = "x";
    s.terminates(first);
    s.has(pod);
    const Texts told = s.decide();
    CHECK(std::count(told.begin(), told.end(), "p gets x without second") == 1);
  }
  SECTION("none is: it has no more right to a search than others") {
    pod.status.nominated_node_name = "x";
    s.has(pod);
    CHECK(s.decide().size() == 2 * Dear::kSearches + 2);
  }
}

TEST_CASE("higher priorities are searched for first") {
  Dear s;
  for (int i = 0; i < 2 * Dear::kSearches; ++i) s.asks_for_too_much(i);
  REQUIRE(s.decide().size() == 2 * Dear::kSearches);
  s.has(in("many", "low", 4).priority(kMid - 1));
  s.has(in("many", "high", 4).priority(kMid + 1));
  REQUIRE(s.decide().size() == 2);
  CHECK_THAT(s.decide_within(200ms).at(0), Catch::StartsWith("high gets n0 without "));
}

TEST_CASE("who was not searched for is in the end, though nothing changes") {
  Dear s;
  for (int i = 0; i < 2 * Dear::kSearches; ++i) s.asks_for_too_much(i);
  REQUIRE(s.decide().size() == 2 * Dear::kSearches);
  s.has(in("many", "p", 4).priority(kMid));
  REQUIRE(s.decide().size() == 1);
  CHECK_THAT(s.decide_within(5s).at(0), Catch::StartsWith("p gets n0 without "));
  // Then all have been, and no time is needed for it before something changes.
  static_cast<void>(s.decide_within(5s));
  const auto wakeup = s.engine.next_wakeup();
  CHECK((!wakeup || *wakeup > s.now + 1min));
}

TEST_CASE("to ask whether a quota may lose its pods counts as work, too") {
  Preempting s;
  constexpr int kNodes = 500;
  constexpr int kPods = 120;
  s.has(gpu_quota("owner").of("owner").in_cohort("c").line("H100", 8 * kNodes));
  for (int i = 0; i < kNodes; ++i) {
    const std::string name = "n" + std::to_string(i);
    s.has(h100(name));
    for (int gpu = 0; gpu < 8; ++gpu) {
      s.runs("owner", "own-" + std::to_string(gpu) + name, name, kLow, 1);
    }
  }
  for (int i = 0; i < kPods; ++i) {
    s.has(in("many", "p" + std::to_string(i), 1).priority(kMid).cpu(std::to_string(i + 1) + "m"));
  }
  const Texts told = s.decide();
  REQUIRE(told.size() == kPods);
  CHECK_THAT(told.front(), Catch::Contains("500 No preemption victims found for incoming pod"));
  CHECK_THAT(told.back(), Catch::EndsWith(" preemption: not tried yet."));
}

TEST_CASE("pods that are being deleted, however many, leave searches within what they may take") {
  constexpr int kLeaving = 5'000;
  constexpr int kSearches = 100;
  Preempting s;
  s.has(gpu_quota("q").of("team").line("*", 8));
  s.has(node("n").gpus(8).cpu("64"));
  for (int i = 0; i < kLeaving; ++i) {
    s.terminates(our_pod("leaves-" + std::to_string(i)).on("elsewhere"), 5min);
  }
  for (int i = 1; i <= kSearches; ++i) {
    const std::string number = std::to_string(i);
    s.has(our_pod("p-" + number).gpus(16).cpu(number + "m").priority(kHigh));
  }
  const Texts told = s.decide();
  REQUIRE(told.size() == kSearches);
  CHECK_THAT(told.front(), Catch::Contains(" preemption: 0/1 nodes are available: "));
  CHECK_THAT(told.back(), Catch::EndsWith(" preemption: not tried yet."));
}
