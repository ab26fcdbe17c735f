// The baselines of Weng et al., ATC'23, on nodes small enough to reckon by hand.
#include "tests/plugins/gpu_node.h"
#include "tests/plugins/one_node.h"
#include "tests/support/catch.h"

#include <set>

using sched::gpu::SizeClass;
using tests::cpu_pod;
using tests::gpu_pod;
using tests::make_plugin;
using tests::Scored;
using tests::share_pod;

namespace {

struct ScoredNode {
  const char* name;
  k8s::Pod given;
  tests::GpuNode node;
  std::int64_t want;
};

void check(std::string_view plugin, const std::vector<ScoredNode>& cases) {
  const auto made = make_plugin(plugin);
  REQUIRE(made);
  for (const ScoredNode& each : cases) {
    INFO(plugin << ": " << each.name);
    CHECK(each.node.ask(*made->score, each.given) == Scored{each.want, -1});
  }
}

const k8s::Pod kMigPod = tests::pod("a").requests("nvidia.com/mig-3g.40gb", "1");

}  // namespace

TEST_CASE("BestFit prefers the node that is left with least") {
  // 1,000 + 100 − (c / 2,560 + g / 160), rounded down.
  check("BestFit",
        {
            {"nothing left", gpu_pod(8'000, 1), {8'000, {1'000}}, 1'100},
            {"all of the largest node left", cpu_pod(0), {128'000, {8, 1'000}}, 1'043},
            {"half the CPU left", cpu_pod(0), {64'000, {}}, 1'075},
            {"a half GPU left", share_pod(0, 500), {0, {1'000}}, 1'096},  // 96.875
            {"a whole GPU less", gpu_pod(4'000, 2), {8'000, {0, 1'000, 1'000, 160}}, 1'097},
            {"more than the largest node", cpu_pod(0), {256'000, {}}, 1'000},
            {"MIG instances", kMigPod, {8'000, {1'000}}, -1},
        });
  CHECK(make_plugin("BestFit")->score->normalisation() == sched::Normalisation::kMinMax);
}

TEST_CASE("DotProd prefers the node that is least like the pod") {
  // 100 · (1 − (c · cpu / 128,000² + g · gpu / 8,000²) / 2), rounded down.
  const std::vector<std::int32_t> kEight(8, 1'000);
  check("DotProd", {
                       {"nothing asked", cpu_pod(0), {128'000, kEight}, 100},
                       {"all asked of the largest node", gpu_pod(128'000, 8), {128'000, kEight}, 0},
                       {"half the CPU of half a node", cpu_pod(64'000), {64'000, {}}, 87},  // 87.5
                       {"a GPU of eight", gpu_pod(0, 1), {0, kEight}, 93},                  // 93.75
                       {"a share", share_pod(0, 500), {0, {0, 1'000}}, 99},                 // 99.6
                       {"not below 0", gpu_pod(1'000'000, 8), {1'000'000, kEight}, 0},
                       {"MIG instances", kMigPod, {8'000, {1'000}}, -1},
                   });
}

TEST_CASE("GpuClustering prefers nodes that hold pods of the same class") {
  const tests::GpuNode empty(0, {1'000, 1'000});  // + 25 · 6,000 / 8,000
  check("GpuClustering",
        {
            {"no pods", gpu_pod(0, 1), empty, 25 + 18},
            {"own class", gpu_pod(0, 1), tests::GpuNode(empty).holds(SizeClass::kOne, 3), 75 + 18},
            {"own class of share", share_pod(0, 200),
             tests::GpuNode(empty).holds(SizeClass::kShare, 1), 75 + 18},
            {"own class and others", gpu_pod(0, 2),
             tests::GpuNode(empty).holds(SizeClass::kTwo, 1).holds(SizeClass::kShare, 2), 50 + 18},
            {"others only", gpu_pod(0, 4),
             tests::GpuNode(empty).holds(SizeClass::kTwo, 1).holds(SizeClass::kOne, 2), 18},
            {"three GPUs are with four", gpu_pod(0, 3),
             tests::GpuNode(empty).holds(SizeClass::kFour, 1), 75 + 18},
            {"more than eight are with eight", gpu_pod(0, 9),
             tests::GpuNode(empty).holds(SizeClass::kEight, 1), 75 + 18},
            {"full", gpu_pod(0, 1), tests::GpuNode(0, {0, 0}).holds(SizeClass::kOne, 2), 100},
            {"more GPUs than the largest node",
             gpu_pod(0, 1),
             {0, std::vector<std::int32_t>(16, 1'000)},
             25},
            {"no GPU asked", cpu_pod(1'000), empty, -1},
            {"MIG instances", kMigPod, empty, -1},
        });
}

TEST_CASE("GpuPackingScore begins GPUs and nodes last") {
  check("GpuPackingScore",
        {
            {"an unused node of 8", gpu_pod(0, 1), {0, std::vector<std::int32_t>(8, 1'000)}, 25},
            {"an unused node of 2", share_pod(0, 100), {0, {1'000, 1'000}}, 31},
            {"an unused node of 32", gpu_pod(0, 1), {0, std::vector<std::int32_t>(32, 1'000)}, 32},
            {"a free GPU of a used node", gpu_pod(0, 1), {0, {0, 1'000}}, 49},
            {"six of them",
             gpu_pod(0, 6),
             {0, {0, 500, 1'000, 1'000, 1'000, 1'000, 1'000, 1'000}},
             44},
            {"not below 33", gpu_pod(0, 20), {0, std::vector<std::int32_t>(21, 1'000)}, 21},
            {"a share that must begin a GPU", share_pod(0, 600), {0, {599, 1'000}}, 49},
            {"a used GPU, a quarter free", share_pod(0, 100), {0, {250, 1'000}}, 98},
            {"the fullest that has room", share_pod(0, 300), {0, {999, 420, 299}}, 96},
            {"no GPU asked", cpu_pod(1'000), {0, {1'000}}, -1},
            {"MIG instances", kMigPod, {0, {1'000}}, -1},
        });
}

TEST_CASE("RandomDevice draws a device with room, the same one until the node changes") {
  const auto made = make_plugin("RandomDevice", "seed: 3");
  REQUIRE(made);
  const auto ask = [&](const tests::GpuNode& node, std::int64_t milli) {
    return node.ask(*made->score, share_pod(0, milli));
  };
  const tests::GpuNode node(0, {1'000, 300, 1'000, 0, 700});
  CHECK(ask(node, 500) == ask(node, 500));
  CHECK(ask(tests::GpuNode(0, {0, 300}), 300) == Scored{0, 1});
  CHECK(ask(tests::GpuNode(0, {0, 300}), 301) == Scored{0, -1});

  std::set<int> drawn;
  for (int i = 0; i < 100; ++i) {
    const Scored scored = ask(tests::GpuNode(node).named("n" + std::to_string(i)), 500);
    CHECK(scored.score == 0);
    drawn.insert(scored.device);
  }
  CHECK(drawn == std::set<int>{0, 2, 4});
  CHECK(node.ask(*made->score, gpu_pod(0, 1)) == Scored{-1, -1});
  CHECK_FALSE(make_plugin("RandomDevice", "seed: -1"));
}

TEST_CASE("a share of a GPU is none where GPUs are only counted") {
  sched::ResourceNames names;
  const sched::PodShape shape = sched::shape_of(share_pod(1'000, 500), names);
  for (const char* name : {"GpuClustering", "GpuPackingScore", "RandomDevice"}) {
    INFO(name);
    CHECK(make_plugin(name)->score->prepare(shape, {names}) == nullptr);
  }
}
