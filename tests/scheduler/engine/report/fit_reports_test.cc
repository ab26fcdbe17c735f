// The text for pods that fit nowhere is made once per change of the nodes, and does not pile up.
#include "scheduler/engine/report/fit_reports.h"

#include "tests/scheduler/engine/harness.h"
#include "tests/support/catch.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

using namespace sched;
using namespace tests;

namespace {

struct Reporting {
  const FitReport& on(const k8s::Pod& pod) {
    cache.emplace(nodes, all_profiles[0], shapes.intern(shape_of(pod, names)),
                  PrepareContext{names});
    cache->catch_up();
    return reports.of(0, *cache);
  }

  std::vector<Profile> all_profiles = profiles();
  ResourceNames names;
  Nodes nodes;
  Shapes shapes;
  std::optional<ScoreCache> cache;
  FitReports reports{nodes, names};
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
