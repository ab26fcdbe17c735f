// A bind names the second-best node, where that is asked for.
#include "tests/scheduler/engine/harness.h"
#include "tests/support/catch.h"

#include <optional>
#include <random>
#include <string>
#include <variant>
#include <vector>

using namespace sched;
using namespace tests;

namespace {

EngineOptions with_runner_up() {
  EngineOptions options;
  options.names_runner_up = true;
  // Scores that learn from the pods that come would change between a question and the decision.
  options.typical_pods =
      std::vector{TypicalPod{.gpus = 1, .milli = 1'000, .products = {}, .count = 3},
                  TypicalPod{.gpus = 4, .milli = 1'000, .products = {}, .count = 1}};
  return options;
}

std::optional<decision::RunnerUp> second_of(const std::vector<Candidate>& candidates) {
  if (candidates.size() < 2) return std::nullopt;
  return decision::RunnerUp{candidates[1].node, candidates[1].total_score};
}

}  // namespace

TEST_CASE("a bind's runner-up is the second of the candidates, whatever runs where") {
  Scheduler s(with_runner_up());
  for (int i = 0; i < 40; ++i) {
    s.has(node("n" + std::to_string(i)).gpus(8).labelled("rack", std::to_string(i % 5)));
  }
  s.synced();
  std::mt19937 random(7);
  const auto draw = [&](unsigned below) { return static_cast<int>(random() % below); };
  std::size_t with_one = 0;
  for (int i = 0; i < 120; ++i) {
    auto builder = our_pod("p" + std::to_string(i)).gpus(1 + draw(4));
    if (i % 3 == 0) {
      const int weight = 1 + draw(100);  // in an order that no compiler chooses
      builder.prefers_nodes(weight, term({label("rack").in({std::to_string(draw(5))})}));
    }
    const k8s::Pod pod = builder;
    s.has(pod);
    const auto expected = s.engine.candidates(pod, 2);
    const auto decided = s.decisions();
    if (expected.empty()) continue;
    const auto& bind = std::get<decision::Bind>(decided.front());
    CHECK(bind.node == expected.front().node);
    CHECK(bind.total_score == expected.front().total_score);
    CHECK(bind.runner_up == second_of(expected));
    if (bind.runner_up) ++with_one;
  }
  CHECK(with_one > 50);
}

TEST_CASE("a bind has no runner-up where one node alone takes the pod, or nobody asks") {
  for (const bool asked : {true, false}) {
    Scheduler s(asked ? with_runner_up() : EngineOptions{});
    s.has(node("a").gpus(8));
    s.has(node("b").gpus(1));
    s.synced();
    for (const int gpus : {2, 1}) {
      s.has(our_pod("p" + std::to_string(gpus)).gpus(gpus));
      const auto decided = s.decisions();
      REQUIRE(decided.size() == 1);
      const auto& bind = std::get<decision::Bind>(decided.front());
      CHECK(bind.runner_up.has_value() == (asked && gpus == 1));
    }
  }
}

TEST_CASE("a pod that waits can be read by its uid, and one with a node cannot") {
  Scheduler s;
  s.has(node("a").gpus(8));
  s.synced();
  const k8s::Pod waits = our_pod("waits").gpus(9);
  const k8s::Pod runs = our_pod("runs").gpus(1);
  s.has(waits);
  s.has(runs);
  REQUIRE(s.engine.waiting_pod(runs.metadata.uid) != nullptr);
  CHECK(s.decisions().size() == 2);
  REQUIRE(s.engine.waiting_pod(waits.metadata.uid) != nullptr);
  CHECK(s.engine.waiting_pod(waits.metadata.uid)->metadata.name == "waits");
  CHECK(s.engine.waiting_pod(runs.metadata.uid) == nullptr);
  CHECK(s.engine.waiting_pod("nobody") == nullptr);
}
