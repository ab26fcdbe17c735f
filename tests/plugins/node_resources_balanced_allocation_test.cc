#include "tests/plugins/one_node.h"
#include "tests/support/catch.h"

#include <cstdint>
#include <vector>

using tests::make_plugin;
using tests::node;
using tests::OneNode;
using tests::pod;

namespace {

constexpr const char* kGpusAsWell =
    "resources: [{name: cpu}, {name: memory, weight: 1}, {name: nvidia.com/gpu}]";

}  // namespace

TEST_CASE("NodeResourcesBalancedAllocation scores by how even a pod leaves what is taken") {
  struct Case {
    const char* name;
    const char* args;
    k8s::Pod given;
    k8s::Node node;
    std::vector<k8s::Pod> on_node;
    std::int64_t want;
  };
  // Of 8 CPUs and 32Gi.
  const k8s::Pod even = pod("a").cpu("4").memory("16Gi");
  const std::vector<Case> cases = {
      {"as even as before", "", even, node("n"), {}, 75},
      {"half of the CPU: 100 before, 75 after", "", pod("a").cpu("4"), node("n"), {}, 62},
      {"half of the memory beside half of the CPU: 75 before, 100 after",
       "",
       pod("a").memory("16Gi"),
       node("n"),
       {pod("b").cpu("4")},
       87},
      {"all of one and none of the other", "", pod("a").cpu("8"), node("n"), {}, 50},
      {"more than there is counts as all of it", "", pod("a").cpu("16"), node("n"), {}, 50},
      {"the other half of a node",
       "",
       pod("a").memory("32Gi"),
       node("n"),
       {pod("b").cpu("8")},
       100},
      {"containers without requests count as nothing",
       "",
       pod("a").memory("16Gi"),
       node("n"),
       {pod("b"), pod("c")},
       62},
      {"three resources: halves and a whole",
       kGpusAsWell,
       pod("a").cpu("4").memory("16Gi").gpus(1),
       node("n").gpus(1),
       {},
       63},
      {"GPUs that the pod does not ask for do not count",
       kGpusAsWell,
       even,
       node("n").gpus(2),
       {pod("b").gpus(2)},
       75},
      {"nor do those that the node does not have",
       kGpusAsWell,
       pod("a").cpu("4").memory("16Gi").gpus(1),
       node("n"),
       {},
       75},
      {"one resource is always even",
       "resources: [{name: cpu}]",
       pod("a").cpu("4"),
       node("n"),
       {},
       75},
      {"a resource that nobody knows",
       "resources: [{name: cpu}, {name: memory}, {name: example.com/x}]",
       pod("a").cpu("4"),
       node("n"),
       {},
       62},
      {"a pod that asks for none of them is not scored", "", pod("a").gpus(1), node("n"), {}, -1},
      {"what comes first may be missing", "", pod("a").memory("16Gi"), node("n"), {}, 62},
  };
  for (const Case& each : cases) {
    INFO(each.name);
    const auto made = make_plugin("NodeResourcesBalancedAllocation", each.args);
    REQUIRE(made);
    CHECK(made->score->normalisation() == sched::Normalisation::kNone);
    CHECK(OneNode(each.node, each.on_node).score(*made->score, each.given) == each.want);
  }
}

TEST_CASE("NodeResourcesBalancedAllocation: arguments that make no sense") {
  struct Case {
    const char* args;
    const char* complaint;
  };
  const std::vector<Case> cases = {
      {"resources: [{weight: 1}]", "name: is missing"},
      {"resources: [{name: cpu, weight: 2}]", "weight"},
      {"resources: [{name: cpu, weight: 0}]", "weight"},
      {"resource: []", "resource"},
  };
  for (const Case& each : cases) {
    INFO(each.args);
    const auto made = make_plugin("NodeResourcesBalancedAllocation", each.args);
    REQUIRE_FALSE(made);
    CHECK_THAT(made.error().message, Catch::Contains(each.complaint));
  }
}
