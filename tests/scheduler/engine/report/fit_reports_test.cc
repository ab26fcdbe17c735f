// The text for pods that fit nowhere is made once per change of the nodes, and does not pile up.
#include "scheduler/engine/report/fit_reports.h"

#include "tests/scheduler/engine/harness.h"
#include "tests/support/catch.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

using namespace sched;
using namespace tests;
using namespace std::chrono_literals;

namespace {

// So many nodes may details that are made anew look at.
constexpr std::int64_t kNodesPerSecond = 1'000;

struct Reporting {
  const FitReport& on(const k8s::Pod& pod) {
    cache.emplace(nodes, all_profiles[0], shapes.intern(shape_of(pod, names)),
                  PrepareContext{names});
    cache->catch_up();
    return reports.of(0, *cache, {}, now);
  }

  std::vector<Profile> all_profiles = profiles();
  ResourceNames names;
  Nodes nodes;
  Shapes shapes;
  std::optional<ScoreCache> cache;
  FitReports reports{nodes, names, kNodesPerSecond};
  Time now = kStart;
};

}  // namespace

TEST_CASE("a report is of the nodes as they are") {
  Reporting s;
  s.nodes.upsert(facts_of(node("a").gpus(2), s.names));
  const k8s::Pod pod = our_pod("p").gpus(3);
  const FitReport& first = s.on(pod);
  CHECK(first.message == "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.");
  CHECK(first.plugins == Texts{"NodeResourcesFit"});
  CHECK(&s.on(pod) == &first);
  CHECK(s.on(our_pod("q").gpus(4)).details.find("needs 4 on one node") != std::string::npos);
  s.nodes.upsert(facts_of(node("b").gpus(1), s.names));
  CHECK(s.on(pod).message == "0/2 nodes are available: 2 Insufficient nvidia.com/gpu.");
}

TEST_CASE("details serve again where much time goes into them, for a minute at most") {
  Reporting s;
  // With the one below as many as may be looked at in a second.
  for (int i = 0; i < 999; ++i) {
    s.nodes.upsert(facts_of(node("full-" + std::to_string(i)).gpus(1), s.names));
  }
  const auto most_free = [&s](int gpus) {
    s.nodes.upsert(facts_of(node("a").gpus(gpus), s.names));
    const FitReport& report = s.on(our_pod("p").gpus(8));
    CHECK(report.message == "0/1000 nodes are available: 1000 Insufficient nvidia.com/gpu.");
    const std::string told = "no node left to the pod has more than ";
    const std::size_t at = report.details.find(told);
    REQUIRE(at != std::string::npos);
    return std::stoi(report.details.substr(at + told.size()));
  };
  CHECK(most_free(2) == 2);
  CHECK(most_free(3) == 2);
  s.now += 400ms;
  CHECK(most_free(4) == 2);
  s.now += 200ms;
  CHECK(most_free(5) == 5);
  const Time made = s.now;
  // Those of another shape are made all the same, and count.
  CHECK(s.on(our_pod("q").gpus(9)).details.find("needs 9 on one node") != std::string::npos);
  s.now += 1s;
  CHECK(most_free(6) == 5);
  s.now = made + FitReports::kOldest - 1ms;
  for (int i = 0; i < 10; ++i) s.on(our_pod("q").gpus(10 + i));
  CHECK(most_free(6) == 5);
  s.now += 1ms;
  CHECK(most_free(7) == 7);
}

TEST_CASE("details that served again are made anew later, though nothing happens") {
  Reporting s;
  for (int i = 0; i < 1'000; ++i) {
    s.nodes.upsert(facts_of(node("full-" + std::to_string(i)).gpus(1), s.names));
  }
  const auto details = [&s] { return s.on(our_pod("p").gpus(8)).details; };
  const std::string before = details();
  s.nodes.upsert(facts_of(node("a").gpus(2), s.names));
  CHECK(details() == before);
  s.now += 10s;
  CHECK(details() != before);
}

TEST_CASE("the number of pods that a node takes is named, though no pod asks for it") {
  Reporting s;
  s.nodes.upsert(facts_of(node("a").gpus(2).pods(0), s.names));
  CHECK(s.on(our_pod("p").gpus(1)).details ==
        "pods: needs 1 on one node; no node left to the pod has any.");
}

TEST_CASE("shapes of half a MB are not kept for their reports") {
  Reporting s;
  s.nodes.upsert(facts_of(node("a"), s.names));
  for (int i = 0; i < 60; ++i) {
    const std::string value(500'000, static_cast<char>('a' + i % 26));
    s.on(our_pod("p").requires_nodes({term({label("l").in({value + std::to_string(i)})})}));
    REQUIRE(s.shapes.size() < 12);
  }
}
