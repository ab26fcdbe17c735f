// A pod whose binding is refused on a node again and again is tried on others.
#include "tests/scheduler/engine/harness.h"
#include "tests/support/catch.h"

#include <chrono>
#include <string>

using namespace sched;
using namespace tests;
using namespace std::chrono_literals;

namespace {

constexpr const char* kLeftOut = "node(s) were left out after the pod could not be bound there";
constexpr const char* kDetails =
    "The pod could not be bound to node a 2 times, and the node is left out for it for 60 "
    "seconds: 409 Conflict";
constexpr auto kBackoffs = 20s;  // longer than any

struct Refusing : Scheduler {
  explicit Refusing(std::initializer_list<const char*> nodes) {
    for (const char* name : nodes) has(node(name).gpus(1));
    synced();
    has(pod);
  }
  // Decided for that node, and refused there.
  void refused_on(const char* node, event::BindFailed::Because because = {}) {
    CHECK(decide() == Texts{std::string("p → ") + node});
    bind_failed(pod, node, because);
    now += kBackoffs;
  }
  k8s::Pod pod = our_pod("p").gpus(1);
};

}  // namespace

TEST_CASE("after two refusals on a node a pod goes to another, and the node takes others") {
  Refusing s({"a", "b"});
  s.refused_on("a");
  s.refused_on("a");
  const Explanation explained = s.engine.explain(s.pod);
  CHECK(explained.nodes[0].plugin == "DefaultBinder");
  CHECK(explained.nodes[0].reasons == Texts{kLeftOut});
  REQUIRE(s.engine.candidates(s.pod, 9).size() == 1);
  s.refused_on("b");
  s.has(our_pod("q").gpus(1));
  CHECK(s.decide() == Texts{"p → b", "q → a"});
}

TEST_CASE("a pod with no other node waits until the node is tried again, and is told why") {
  Refusing s({"a"});
  s.refused_on("a");
  s.refused_on("a");
  const auto refused_at = s.now - kBackoffs;
  const auto told = s.engine.step(s.now);
  REQUIRE(told);
  const auto& refusal = std::get<decision::Unschedulable>(*told);
  CHECK(refusal.message == std::string("0/1 nodes are available: 1 ") + kLeftOut + ".");
  CHECK(refusal.details == kDetails);
  CHECK(refusal.plugins == Texts{"DefaultBinder"});
  CHECK_FALSE(s.engine.step(s.now));
  CHECK(s.engine.next_wakeup() == refused_at + 1min);
  s.now = refused_at + 1min - 1s;
  CHECK(s.decide().empty());
  s.now = refused_at + 1min;
  // The next time it is longer.
  s.refused_on("a");
  CHECK(s.decide().size() == 1);
  CHECK(s.engine.next_wakeup() == s.now - kBackoffs + 2min);
}

TEST_CASE("refusals long past do not count, nor does what was not the node's refusal") {
  using Because = event::BindFailed::Because;
  Refusing s({"a", "b"});
  s.refused_on("a");
  s.now += 10min;
  s.refused_on("a");
  s.refused_on("a", Because::kNotSent);
  s.refused_on("a", Because::kStuck);
  s.refused_on("a", Because::kUnanswered);
  s.refused_on("a", Because::kOvertaken);
  CHECK(s.decide() == Texts{"p → a"});
}

TEST_CASE("a bind that was not sent does not make the next back-off longer") {
  using Because = event::BindFailed::Because;
  Refusing s({"a"});
  for (int i = 0; i < 9; ++i) {
    CHECK(s.decide() == Texts{"p → a"});
    s.apply(event::BindFailed{Refusing::ref(s.pod), "a", "", Because::kNotSent});
    CHECK_FALSE(s.engine.step(s.now));
    CHECK(s.engine.next_wakeup() == s.now + 1s);
    s.now += 1s;
  }
}

TEST_CASE("the binds of a namespace that is stuck are decided anew less and less often") {
  using Because = event::BindFailed::Because;
  Refusing s({"a"});
  for (const auto pause : {1s, 2s, 4s, 8s, 10s, 10s}) {
    CHECK(s.decide() == Texts{"p → a"});
    s.apply(event::BindFailed{Refusing::ref(s.pod), "a", "others", Because::kStuck});
    CHECK_FALSE(s.engine.step(s.now));
    CHECK(s.engine.next_wakeup() == s.now + pause);
    s.now += pause;
  }
}
