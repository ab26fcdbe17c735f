// One pod's way through the engine, with events in every order that a cluster can produce.
#include "tests/scheduler/engine/harness.h"
#include "tests/support/catch.h"

#include <chrono>

using namespace sched;
using namespace tests;
using namespace std::chrono_literals;

namespace {

const char* const kNoGpu = " waits: 0/1 nodes are available: 1 Insufficient nvidia.com/gpu.";

// A cluster of one node with two GPUs.
struct OneNode : Scheduler {
  explicit OneNode(EngineOptions options = {}) : Scheduler(options) {
    has(node("n").gpus(2));
    synced();
  }
};

// Whether a pod with `gpus` would find a node now.
bool fits(const Scheduler& s, int gpus) {
  return s.engine.explain(our_pod("probe").gpus(gpus)).message.empty();
}

}  // namespace

TEST_CASE("nothing is decided before everything is known") {
  Scheduler s;
  s.has(node("n").gpus(2));
  s.has(our_pod("a").gpus(1));
  CHECK(s.decide().empty());
  CHECK(s.engine.next_wakeup() == std::nullopt);
  CHECK(s.engine.pending() == PendingPods{.active = 1});
  s.synced();
  CHECK(s.decide() == Texts{"a → n"});
  CHECK(s.engine.pending() == PendingPods{});
}

TEST_CASE("a decision to bind says all there is to say") {
  OneNode s;
  s.has(node("cordoned").gpus(8).cordoned());
  s.now += 5s;
  s.has(our_pod("a").gpus(1).generation(3));
  s.now += 1s;
  const auto decisions = s.decisions();
  REQUIRE(decisions.size() == 1);
  const auto& bind = std::get<decision::Bind>(decisions[0]);
  CHECK(bind.generation == 3);
  CHECK(bind.pod == Scheduler::ref(our_pod("a")));
  CHECK(bind.scheduler_name == kOurs);
  CHECK(bind.node == "n");
  CHECK(bind.feasible_nodes == 1);
  CHECK(bind.all_nodes == 2);
  CHECK(bind.attempts == 1);
  CHECK(bind.queued_since == kStart + 5s);
  std::int64_t total = 0;
  for (const PluginScore& score : bind.scores) {
    CHECK(score.score >= 0);
    CHECK(score.score <= kMaxScore);
    total += score.score * score.weight;
  }
  CHECK(total == bind.total_score);
  REQUIRE(bind.scores.size() == 5);
  CHECK(bind.scores[0] == PluginScore{"TaintToleration", 100, 30});
}

TEST_CASE("what is decided is taken at once") {
  OneNode s;
  s.has(our_pod("a").gpus(1));
  s.has(our_pod("b").gpus(1));
  s.has(our_pod("c").gpus(1));
  CHECK(s.decide() == Texts{"a → n", "b → n", std::string("c") + kNoGpu});
}

TEST_CASE("a pod that is bound counts once, in whatever order the news arrives") {
  OneNode s;
  const auto a = our_pod("a").gpus(1);
  const auto a_bound = our_pod("a").gpus(1).on("n");
  s.has(a);
  REQUIRE(s.decide() == Texts{"a → n"});
  CHECK(s.told_bound == WaitsForNamespace::BoundPods{{a.object().metadata.uid, "n"}});

  SECTION("server, then watch") {
    s.bind_succeeded(a, "n");
    s.has(a_bound);
  }
  SECTION("watch, then server") {
    s.has(a_bound);
    s.bind_succeeded(a, "n");
  }
  SECTION("an old update between") {
    s.has(a);
    s.bind_succeeded(a, "n");
    s.has(a);
    s.has(a_bound);
    s.has(a);
  }
  SECTION("a failure that the watch has overtaken") {
    s.has(a_bound);
    s.bind_failed(a, "n");
  }
  SECTION("no watch yet") { s.bind_succeeded(a, "n"); }
  SECTION("neither yet") {}
  CHECK(s.decide().empty());
  CHECK(fits(s, 1));
  CHECK_FALSE(fits(s, 2));
  CHECK(s.told_bound.size() == 1);

  s.pod_gone(a);
  CHECK(fits(s, 2));
  CHECK(s.told_bound.empty());
}

TEST_CASE("a pod that was bound elsewhere moves its claim") {
  OneNode s;
  s.has(our_pod("a").gpus(2));
  REQUIRE(s.decide() == Texts{"a → n"});
  s.has(node("other").gpus(2));
  s.has(our_pod("a").gpus(2).on("other"));
  s.has(our_pod("b").gpus(2));
  CHECK(s.decide() == Texts{"b → n"});
}

TEST_CASE("a failed bind gives the capacity back, and the pod waits twice as long each time") {
  OneNode s({.initial_backoff = 1'000ms, .max_backoff = 3'000ms});
  const auto a = our_pod("a").gpus(2);
  s.has(a);
  REQUIRE(s.decide() == Texts{"a → n"});
  for (const auto wait : {1'000ms, 2'000ms, 3'000ms, 3'000ms}) {
    s.bind_failed(a, "another node");  // not what was decided
    CHECK(s.engine.pending() == PendingPods{});
    // Not the node's refusal, which would leave it out.
    for (int told = 0; told < 2; ++told) {
      s.bind_failed(a, "n", event::BindFailed::Because::kOvertaken);
    }
    CHECK(s.engine.pending() == PendingPods{.backoff = 1});
    CHECK(s.told_bound.empty());
    CHECK(fits(s, 2));
    CHECK(s.decide().empty());
    CHECK(s.engine.next_wakeup() == s.now + wait);
    s.now += wait - 1us;
    CHECK(s.decide().empty());
    s.now += 1us;
    CHECK(s.decide() == Texts{"a → n"});
  }
  CHECK(s.engine.next_wakeup() == std::nullopt);
}

TEST_CASE("what the server says counts for the decision that it is about") {
  OneNode s;
  const auto a = our_pod("a").gpus(2);
  s.has(a);
  REQUIRE(s.decide() == Texts{"a → n"});
  SECTION("it took the bind: a failure that is told later is an old one") {
    s.bind_succeeded(a, "n");
    s.bind_failed(a, "n");
    CHECK(s.engine.pending() == PendingPods{});
    CHECK_FALSE(fits(s, 1));
  }
  SECTION("it took another one: that this failed is news") {
    s.bind_succeeded(a, "another node");
    s.bind_failed(a, "n");
    CHECK(s.engine.pending() == PendingPods{.backoff = 1});
    CHECK(fits(s, 2));
  }
  SECTION("it speaks of a pod that nobody knows") {
    s.bind_succeeded(our_pod("b"), "n");
    s.bind_failed(our_pod("b"), "n");
    CHECK(s.engine.pending() == PendingPods{});
  }
}

TEST_CASE("a failed bind lets others have the place") {
  OneNode s;
  const auto a = our_pod("a").gpus(2);
  s.has(a);
  s.has(our_pod("b").gpus(2));
  REQUIRE(s.decide() == Texts{"a → n", std::string("b") + kNoGpu});
  s.bind_failed(a, "n");
  CHECK(s.decide() == Texts{"b → n"});
}

TEST_CASE("pods that go leave nothing behind, from every state") {
  OneNode s;
  const auto a = our_pod("a").gpus(2);
  SECTION("pending") { s.has(a); }
  SECTION("assumed") {
    s.has(a);
    REQUIRE(s.decide().size() == 1);
  }
  SECTION("failed") {
    s.has(a);
    REQUIRE(s.decide().size() == 1);
    s.bind_failed(a, "n");
  }
  SECTION("bound") { s.has(our_pod("a").gpus(2).on("n")); }
  SECTION("gated") { s.has(our_pod("a").gpus(2).gated("later")); }
  SECTION("parked") {
    s.has(our_pod("a").gpus(3));
    REQUIRE(s.decide().size() == 1);
  }
  SECTION("refused") {
    s.has(our_pod("a").gpus(2).labelled("waits-for", "x"));
    REQUIRE(s.decide().size() == 1);
  }
  SECTION("unknown") {}
  s.pod_gone(a);
  s.pod_gone(a);
  CHECK(s.engine.pending() == PendingPods{});
  CHECK(s.engine.next_wakeup() == std::nullopt);
  CHECK(s.decide().empty());
  CHECK(s.told_bound.empty());
  CHECK(fits(s, 2));
}

TEST_CASE("a terminating pod holds its place until it is gone; a finished one does not") {
  OneNode s;
  s.has(their_pod("theirs").gpus(1).on("n"));
  s.has(their_pod("theirs").gpus(1).on("n").terminating());
  CHECK_FALSE(fits(s, 2));
  SECTION("gone") { s.pod_gone(their_pod("theirs")); }
  SECTION("finished") { s.has(their_pod("theirs").gpus(1).on("n").terminating().finished()); }
  SECTION("failed") { s.has(their_pod("theirs").gpus(1).on("n").phase(k8s::PodPhase::kFailed)); }
  CHECK(fits(s, 2));
}

TEST_CASE("pods that are being deleted are not scheduled") {
  OneNode s;
  s.has(our_pod("a").gpus(1).terminating());
  CHECK(s.decide().empty());
  s.has(our_pod("b").gpus(1));
  s.has(our_pod("b").gpus(1).terminating());
  CHECK(s.decide().empty());
  CHECK(s.engine.pending() == PendingPods{});

  // Deleted while the bind was on its way: not tried again.
  const auto c = our_pod("c").gpus(1);
  s.has(c);
  REQUIRE(s.decide() == Texts{"c → n"});
  s.has(our_pod("c").gpus(1).terminating());
  CHECK_FALSE(fits(s, 2));
  s.bind_failed(c, "n");
  CHECK(fits(s, 2));
  CHECK(s.engine.pending() == PendingPods{});
}

TEST_CASE("the same name with another uid is another pod") {
  OneNode s;
  s.has(our_pod("a").uid("1").gpus(1).on("n"));
  s.has(our_pod("a").uid("2").gpus(1));
  CHECK(s.decide() == Texts{"a → n"});
  CHECK_FALSE(fits(s, 1));
  s.pod_gone(our_pod("a").uid("1"));
  CHECK(fits(s, 1));
  CHECK_FALSE(fits(s, 2));
}

TEST_CASE("pods of other schedulers count, and are not ours to place") {
  OneNode s;
  s.has(their_pod("pending-elsewhere").gpus(2));
  CHECK(s.decide().empty());
  CHECK(s.engine.pending() == PendingPods{});
  s.has(their_pod("theirs").gpus(2).on("n"));
  CHECK_FALSE(fits(s, 1));
}

TEST_CASE("gated pods wait for their gates to go, and for nothing else") {
  OneNode s;
  s.has(our_pod("a").gpus(1).gated("first").gated("second"));
  CHECK(s.decide().empty());
  CHECK(s.engine.pending() == PendingPods{.gated = 1});
  s.has(our_pod("a").gpus(1).gated("second"));
  CHECK(s.engine.pending() == PendingPods{.gated = 1});
  s.has(our_pod("a").gpus(1));
  CHECK(s.decide() == Texts{"a → n"});
}

TEST_CASE("a pod that had gates has its place in line by its creation") {
  // As with kube-scheduler, whose queue keeps the time at which it first saw a pod, gated or not.
  OneNode s;
  s.has(our_pod("first").gpus(2));
  REQUIRE(s.decide().size() == 1);
  s.has(our_pod("gated").gpus(2).created_at(kStart + 1s).gated("later"));
  s.has(our_pod("younger").gpus(2).created_at(kStart + 2s));
  REQUIRE(s.decide().size() == 1);
  s.now += 10s;
  s.has(our_pod("gated").gpus(2).created_at(kStart + 1s));
  REQUIRE(s.decide().size() == 1);
  s.pod_gone(our_pod("first").gpus(2));
  CHECK(s.decide() == Texts{"gated → n"});
}

TEST_CASE("a pod that changes while it waits is tried anew; a new status changes nothing") {
  OneNode s;
  s.has(our_pod("a").gpus(3));
  REQUIRE(s.decide().size() == 1);
  s.has(our_pod("a").gpus(3).condition("PodScheduled", "False", "Unschedulable"));
  CHECK(s.decide().empty());
  s.has(our_pod("a").gpus(3).labelled("app", "x"));
  CHECK(s.decide().size() == 1);
  s.has(our_pod("a").gpus(2).labelled("app", "x"));
  CHECK(s.decide() == Texts{"a → n"});
}

TEST_CASE("a resize in place is what counts from then on") {
  OneNode s;
  s.has(their_pod("theirs").cpu("7").on("n"));
  s.has(our_pod("a").cpu("2"));
  CHECK(s.decide() == Texts{"a waits: 0/1 nodes are available: 1 Insufficient cpu."});
  s.has(their_pod("theirs").cpu("6").on("n"));
  CHECK(s.decide() == Texts{"a → n"});
}

TEST_CASE("several profiles serve their own pods") {
  std::vector<Profile> two;
  two.push_back(profile());
  two.push_back(profile(nullptr, "second"));
  Engine engine(std::move(two), {});
  engine.apply(event::NodeUpserted{node("n").gpus(1)}, kStart);
  engine.apply(event::PodUpserted{pod("a").served_by("second").gpus(1)}, kStart);
  engine.apply(event::PodUpserted{our_pod("b").gpus(1).priority(-1)}, kStart);
  engine.apply(event::Synced{}, kStart);
  const auto first = engine.step(kStart);
  REQUIRE(first);
  CHECK(std::get<decision::Bind>(*first).scheduler_name == "second");
  const auto second = engine.step(kStart);
  REQUIRE(second);
  CHECK(std::get<decision::Unschedulable>(*second).pod.name == "b");
}
