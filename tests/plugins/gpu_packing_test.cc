#include "plugins/gpu_packing/gpu_packing.h"

#include "tests/plugins/one_node.h"
#include "tests/support/catch.h"

using tests::make_plugin;
using tests::node;
using tests::OneNode;
using tests::pod;

TEST_CASE("GpuPacking prefers full GPU nodes for GPU pods, and nodes without GPUs for others") {
  struct Case {
    const char* name;
    k8s::Pod given;
    k8s::Node node;
    std::vector<k8s::Pod> on_node;
    std::int64_t want;
  };
  constexpr const char* kShared = "nvidia.com/gpu.shared";
  constexpr const char* kMig = "nvidia.com/mig-3g.40gb";
  const std::vector<Case> cases = {
      {"first GPU of an empty node", pod("a").gpus(1), node("n").gpus(8), {}, 12},
      {"last GPUs", pod("a").gpus(2), node("n").gpus(8), {pod("b").gpus(6)}, 100},
      {"more than there are", pod("a").gpus(4), node("n").gpus(8), {pod("b").gpus(6)}, 100},
      {"shared GPUs", pod("a").requests(kShared, "1"), node("n").offers(kShared, "4"), {}, 25},
      {"MIG profiles", pod("a").requests(kMig, "1"), node("n").offers(kMig, "2"), {}, 50},
      {"other kinds on the node do not matter",
       pod("a").requests(kMig, "1"),
       node("n").gpus(8).offers(kMig, "2"),
       {pod("b").gpus(8)},
       50},
      {"two kinds: their mean",
       pod("a").gpus(1).requests(kMig, "2"),
       node("n").gpus(4).offers(kMig, "2"),
       {},
       62},
      {"a node without that kind", pod("a").gpus(1), node("n"), {}, 0},
      {"no GPU asked, none there", pod("a").cpu("1"), node("n"), {}, 100},
      {"no GPU asked, names without any", pod("a"), node("n").gpus(0), {}, 100},
      {"no GPU asked, GPUs there", pod("a").cpu("1"), node("n").gpus(8), {}, 0},
      {"no GPU asked, MIG there", pod("a"), node("n").offers(kMig, "1"), {}, 0},
      {"zero GPUs are none", pod("a").gpus(0), node("n").gpus(8), {}, 0},
      {"other vendors' devices are not GPUs to pack",
       pod("a"),
       node("n").offers("amd.com/gpu", "4"),
       {},
       100},
  };
  const auto made = make_plugin("GpuPacking");
  REQUIRE(made);
  CHECK(made->score->normalisation() == sched::Normalisation::kNone);
  for (const Case& each : cases) {
    INFO(each.name);
    CHECK(OneNode(each.node, each.on_node).score(*made->score, each.given) == each.want);
  }
}

TEST_CASE("GpuPacking sees kinds of GPU that turn up after it was prepared") {
  const auto made = make_plugin("GpuPacking");
  REQUIRE(made);
  sched::ResourceNames names;
  const auto prepared = made->score->prepare(sched::shape_of(pod("a"), names), {names});
  REQUIRE(prepared);
  const sched::NodeFacts late =
      sched::facts_of(node("n").offers("nvidia.com/mig-1g.10gb", "7"), names);
  CHECK(prepared->score({late, {}}) == 0);
}
