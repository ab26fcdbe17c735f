#include "plugins/gpu_packing/gpu_packing.h"

#include "tests/plugins/gpu_node.h"
#include "tests/plugins/one_node.h"
#include "tests/support/catch.h"

using tests::make_plugin;
using tests::node;
using tests::OneNode;
using tests::pod;

namespace {

constexpr const char* kShared = "nvidia.com/gpu.shared";
constexpr const char* kMig = "nvidia.com/mig-3g.40gb";

}  // namespace

TEST_CASE("GpuPacking prefers full GPU nodes for GPU pods, and nodes without GPUs for others") {
  struct Case {
    const char* name;
    k8s::Pod given;
    k8s::Node node;
    std::vector<k8s::Pod> on_node;
    std::int64_t want;
  };
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

TEST_CASE("GpuPacking is UsableGpu once the workload is known, but for pieces of GPUs") {
  const auto packing = make_plugin("GpuPacking");
  const auto usable = make_plugin("UsableGpu");
  REQUIRE(packing);
  REQUIRE(usable);
  CHECK(packing->score->reads_statistics());
  CHECK(packing->score->max_score() == usable->score->max_score());
  const auto known =
      tests::workload({tests::kind(9, 4'000, 1, 1'000), tests::kind(9, 2'000, 1, 300),
                       tests::kind(1, 64'000, 8, 1'000)});
  const tests::GpuNode half(32'000, {0, 300, 1'000, 1'000});
  const tests::GpuNode none(32'000, {});

  struct Case {
    const char* name;
    k8s::Pod given;
    bool usable;
  };
  const std::vector<Case> cases = {
      {"whole GPUs", tests::gpu_pod(4'000, 2), true},
      {"a share", tests::share_pod(2'000, 300), true},
      {"no GPU", tests::cpu_pod(30'000), true},
      {"a shared GPU", pod("a").requests(kShared, "1"), false},
      {"a MIG instance", pod("a").requests(kMig, "1"), false},
      {"a whole GPU and an instance", pod("a").gpus(1).requests(kMig, "1"), false},
  };
  for (const Case& each : cases) {
    INFO(each.name);
    const tests::Scored scored = half.ask(*packing->score, each.given, known);
    CHECK((scored == half.ask(*usable->score, each.given, known)) == each.usable);
    if (!each.usable) CHECK(scored.score <= 100);
  }
  // Before: as full as it would be. Nodes without GPU have none to miss.
  CHECK(half.ask(*packing->score, tests::share_pod(2'000, 300)).device == -1);
  const std::int64_t apart = none.ask(*packing->score, tests::cpu_pod(1'000), known).score;
  CHECK(apart - none.ask(*usable->score, tests::cpu_pod(1'000), known).score == 100);
}
