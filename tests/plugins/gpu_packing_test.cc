#include "tests/plugins/gpu_node.h"
#include "tests/plugins/labels.h"
#include "tests/plugins/one_node.h"
#include "tests/support/catch.h"

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

using tests::kMig;
using tests::kShared;
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
  const std::vector<Case> cases = {
      {"first GPU of an empty node", pod("a").gpus(1), node("n").gpus(8), {}, 12},
      {"last GPUs", pod("a").gpus(2), node("n").gpus(8), {pod("b").gpus(6)}, 100},
      {"more than there are", pod("a").gpus(4), node("n").gpus(8), {pod("b").gpus(6)}, 100},
      {"shared GPUs are GpuSharing's",
       pod("a").requests(kShared, "1"),
       node("n").offers(kShared, "4"),
       {},
       -1},
      {"a node without that kind", pod("a").gpus(1), node("n"), {}, 0},
      {"no GPU asked, none there", pod("a").cpu("1"), node("n"), {}, 100},
      {"no GPU asked, names without any", pod("a"), node("n").gpus(0), {}, 100},
      {"no GPU asked, GPUs there", pod("a").cpu("1"), node("n").gpus(8), {}, 0},
      {"no GPU asked, MIG there", pod("a"), node("n").offers(kMig, "1"), {}, 0},
      {"zero GPUs are none", pod("a").gpus(0), node("n").gpus(8), {}, 0},
      {"no GPU asked, other vendors' there",
       pod("a").cpu("1"),
       node("n").offers("amd.com/gpu", "4"),
       {},
       0},
      {"no GPU asked, GPUs there under a name of somebody's own",
       pod("a").cpu("1"),
       node("n").offers("nvidia.com/gpu-a100", "8"),
       {},
       0},
      {"no GPU asked, network devices there",
       pod("a").cpu("1"),
       node("n").offers("nvidia.com/rdma_shared_device_a", "63").offers("rdma/hca", "8"),
       {},
       100},
      {"no GPU asked, and the device plugin restarts",
       pod("a").cpu("1"),
       node("n").gpus(0).product("NVIDIA-L4").labelled("nvidia.com/gpu.present", "true"),
       {},
       0},
      {"no GPU asked, and GPUs are being repartitioned",
       pod("a").cpu("1"),
       node("n").labelled("nvidia.com/gpu.present", "true"),
       {},
       0},
      {"no GPU asked, and no device plugin yet, on GKE",
       pod("a").cpu("1"),
       node("n").labelled("cloud.google.com/gke-accelerator", "nvidia-l4"),
       {},
       0},
      {"the same on AKS",
       pod("a").cpu("1"),
       node("n").labelled("kubernetes.azure.com/accelerator", "nvidia"),
       {},
       0},
      {"the same where node feature discovery saw a card",
       pod("a").cpu("1"),
       node("n").labelled("feature.node.kubernetes.io/pci-0302_10de.present", "true"),
       {},
       0},
      {"no GPU asked, and labels say that there is none",
       pod("a").cpu("1"),
       node("n").labelled("nvidia.com/gpu.present", "false"),
       {},
       100},
      {"other vendors' devices are not GPUs to pack",
       pod("a").requests("amd.com/gpu", "1"),
       node("n").offers("amd.com/gpu", "4"),
       {},
       0},
  };
  const auto made = make_plugin("GpuPacking");
  REQUIRE(made);
  CHECK(made->score->normalisation() == sched::Normalisation::kNone);
  for (const Case& each : cases) {
    INFO(each.name);
    CHECK(OneNode(each.node, each.on_node).score(*made->score, each.given) == each.want);
  }
}

TEST_CASE("GpuPacking takes an instance from where what stays free is worth least") {
  constexpr const char* kSmall = "nvidia.com/mig-1g.10gb";
  constexpr const char* kMiddle = "nvidia.com/mig-2g.20gb";
  const auto a100 = [](std::int64_t gpus = 0) {
    return node("n").gpus(gpus).product("NVIDIA-A100-SXM4-80GB");
  };
  struct Case {
    const char* name;
    k8s::Pod given;
    k8s::Node node;
    std::vector<k8s::Pod> on_node;
    std::int64_t free;  // points
  };
  const std::vector<Case> cases = {
      {"nothing stays free", pod("a").requests(kMig, "1"), a100().offers(kMig, "1"), {}, 0},
      {"half a GPU is worth a quarter",
       pod("a").requests(kMig, "1"),
       a100().offers(kMig, "2"),
       {},
       4},
      {"a whole GPU", pod("a").requests(kMig, "1"), a100(1).offers(kMig, "1"), {}, 16},
      {"it is taken already",
       pod("a").requests(kMig, "1"),
       a100(1).offers(kMig, "1"),
       {pod("b").gpus(1)},
       0},
      {"a whole GPU that the pod takes itself",
       pod("a").gpus(1).requests(kMig, "1"),
       a100(1).offers(kMig, "2"),
       {},
       4},
      {"GPUs that are shared are no whole ones",
       pod("a").requests(kMig, "1"),
       a100(8)
           .offers(kMig, "1")
           .labelled("nvidia.com/gpu.replicas", "4")
           .labelled("nvidia.com/gpu.sharing-strategy", "time-slicing"),
       {},
       0},
      {"small ones are worth little",
       pod("a").requests(kMig, "1"),
       a100().offers(kMig, "1").offers(kMiddle, "1").offers(kSmall, "4"),
       {},
       2},
      {"replicas are worth nothing",
       pod("a").requests(kMig, "1"),
       a100().offers(kMig, "1").offers("nvidia.com/mig-1g.10gb.shared", "28").offers(kShared, "32"),
       {},
       0},
      {"replicas under the instances' own name",
       pod("a").requests(kMig, "1"),
       a100()
           .offers(kMig, "1")
           .offers(kSmall, "40")
           .labelled("nvidia.com/mig-1g.10gb.replicas", "10"),
       {},
       0},
      {"instances beside replicas of another profile",
       pod("a").requests(kMig, "1"),
       a100().offers(kMig, "2").labelled("nvidia.com/mig-1g.10gb.replicas", "10"),
       {},
       4},
      {"on A30 the same name is another part of the GPU",
       pod("a").requests("nvidia.com/mig-1g.6gb", "1"),
       node("n").product("NVIDIA-A30").offers("nvidia.com/mig-1g.6gb", "5"),
       {},
       4},
      {"a model that is not known",
       pod("a").requests(kMig, "1"),
       node("n").offers(kMig, "5"),
       {},
       1},
      {"more than a node can have",
       pod("a").requests(kMig, "1"),
       a100(1'000).offers(kMig, "1"),
       {},
       1'024},
  };
  const auto made = make_plugin("GpuPacking");
  REQUIRE(made);
  CHECK(made->score->max_score() >= 1'024);
  for (const Case& each : cases) {
    INFO(each.name);
    CHECK(OneNode(each.node, each.on_node).score(*made->score, each.given) == 1'024 - each.free);
  }
}

TEST_CASE(
    "Whatever is free on a node, each further piece that is free makes it worse, or no better") {
  const auto made = make_plugin("GpuPacking");
  REQUIRE(made);
  const std::vector<const char*> pieces = {"nvidia.com/gpu", "nvidia.com/mig-1g.10gb",
                                           "nvidia.com/mig-2g.20gb", "nvidia.com/mig-3g.40gb",
                                           "nvidia.com/mig-7g.80gb"};
  std::mt19937 random(GENERATE(range(1U, 21U)));
  for (int i = 0; i < 50; ++i) {
    std::vector<std::int64_t> free;
    for (std::size_t piece = 0; piece < pieces.size(); ++piece) {
      free.push_back(static_cast<std::int64_t>(random() % 8));
    }
    const char* asked = pieces[1 + random() % (pieces.size() - 1)];
    const auto score_with = [&](std::size_t more) {
      auto there = node("n").product("NVIDIA-A100-SXM4-80GB");
      for (std::size_t piece = 0; piece < pieces.size(); ++piece) {
        const std::int64_t extra = (piece == more ? 1 : 0) + (pieces[piece] == asked ? 1 : 0);
        there.offers(pieces[piece], std::to_string(free[piece] + extra));
      }
      return OneNode(there).score(*made->score, pod("a").requests(asked, "1"));
    };
    const std::int64_t as_it_is = score_with(pieces.size());
    const std::int64_t with_gpu = score_with(0);
    std::int64_t before = as_it_is;
    for (std::size_t piece = 1; piece < pieces.size(); ++piece) {
      const std::int64_t with = score_with(piece);
      REQUIRE(with <= before);  // the larger the profile, the more
      REQUIRE(with_gpu <= with);
      before = with;
    }
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
    if (!each.usable) CHECK(scored.score <= packing->score->max_score());
  }
  // Before: as full as it would be. Nodes without GPU have none to miss.
  CHECK(half.ask(*packing->score, tests::share_pod(2'000, 300)).device == -1);
  const std::int64_t apart = none.ask(*packing->score, tests::cpu_pod(1'000), known).score;
  CHECK(apart - none.ask(*usable->score, tests::cpu_pod(1'000), known).score == 100);
}

TEST_CASE("GpuPacking does not take pieces of shared GPUs for whole ones") {
  const auto packing = make_plugin("GpuPacking");
  REQUIRE(packing);
  const auto known = std::make_shared<const sched::ClusterContext>(
      tests::workload({tests::kind(9, 4'000, 1, 1'000), tests::kind(1, 64'000, 8, 1'000)}));
  sched::ResourceNames names;
  const auto score =
      packing->score->prepare(sched::shape_of(pod("a").gpus(1), names), {names, known});
  const auto on = [&](const k8s::Node& object) {
    return score->score({sched::facts_of(object, names), {}});
  };
  const std::int64_t shared = on(node("n").gpus(8).product("NVIDIA-L4-SHARED"));
  CHECK(shared == on(node("n").gpus(2).product("NVIDIA-L4-SHARED")));
  CHECK(shared == on(node("n").gpus(7).product("NVIDIA-A100-SXM4-40GB-MIG-1g.5gb-SHARED")));
  CHECK(shared != on(node("n").gpus(8).product("NVIDIA-L4")));
}

TEST_CASE("GpuPacking packs instances that are called nvidia.com/gpu, whatever is known") {
  const auto packing = make_plugin("GpuPacking");
  const auto plain = make_plugin("GpuPacking", "packPieces: false");
  REQUIRE(packing);
  REQUIRE(plain);
  const auto known = std::make_shared<const sched::ClusterContext>(
      tests::workload({tests::kind(9, 4'000, 1, 1'000), tests::kind(1, 64'000, 8, 1'000)}));
  sched::ResourceNames names;
  const k8s::Pod one = pod("a").gpus(1).annotated("gpu-scheduler.io/mig-profile", "1g.5gb");
  const auto on = [&](const sched::ScorePlugin& by, std::int64_t instances) {
    const auto score = by.prepare(sched::shape_of(one, names), {names, known});
    const k8s::Node object = node("n").gpus(instances).product("NVIDIA-A100-SXM4-40GB-MIG-1g.5gb");
    return score->score({sched::facts_of(object, names), {}});
  };
  // One of 4 fills more of the node than one of 7, and one of 50.
  const std::int64_t neutral = on(*plain->score, 7);
  CHECK(on(*packing->score, 4) == neutral + 25);
  CHECK(on(*packing->score, 7) == neutral + 14);
  CHECK(on(*packing->score, 50) == neutral + 2);
  CHECK(on(*plain->score, 50) == neutral);
  CHECK(on(*packing->score, 1) <= packing->score->max_score());
}

TEST_CASE("Several kinds of pieces that are kept one by one count by their mean") {
  const auto packing = make_plugin("GpuPacking");
  REQUIRE(packing);
  sched::ClusterContext apart;
  apart.devices_apart = true;
  sched::ResourceNames names;
  const auto score =
      packing->score->prepare(sched::shape_of(pod("a").gpus(1).requests(kMig, "1"), names),
                              {names, std::make_shared<const sched::ClusterContext>(apart)});
  REQUIRE(score);
  const auto on = [&](const k8s::Node& object) {
    return score->score({sched::facts_of(object, names), {}});
  };
  CHECK(on(node("n").gpus(4).offers(kMig, "2")) == (25 + 50) / 2);
  CHECK(on(node("n").gpus(4)) == 25);  // a kind that the node does not have is none
  CHECK(on(node("n").gpus(4).offers(kMig, "2").product("NVIDIA-L4-SHARED")) == 0);
}

TEST_CASE("What GpuPacking charges for whole nodes and for scarce types") {
  const k8s::Node l4 = node("n").gpus(8).product("NVIDIA-L4");
  const k8s::Node a100 = node("n").gpus(8).product("NVIDIA-A100-SXM4-80GB");
  const k8s::Node h100 = node("n").gpus(8).product("NVIDIA-H100-80GB-HBM3");
  const auto plain = make_plugin("GpuPacking");
  REQUIRE(plain);
  // Without scores of pieces nothing but prices is left, in points of 50 thousandths.
  const auto types = make_plugin("GpuPacking", "{packPieces: false, cheapTypesFirst: [L4, A100]}");
  REQUIRE(types);
  constexpr std::int64_t kMost = 2 * 8 * 40;  // two steps for eight GPUs
  CHECK(types->score->max_score() == plain->score->max_score() + kMost);
  const auto price = [&](const k8s::Node& object, const k8s::Pod& given) {
    return kMost - OneNode(object).score(*types->score, given);
  };
  CHECK(price(l4, pod("a").gpus(4)) == 0);
  CHECK(price(a100, pod("a").gpus(1)) == 40);
  CHECK(price(a100, pod("a").gpus(4)) == 4 * 40);
  CHECK(price(h100, pod("a").gpus(4)) == 2 * 4 * 40);
  CHECK(price(h100, pod("a").gpus(8)) == kMost);
  CHECK(price(h100, pod("a").gpus(9)) == kMost);  // more GPUs are not charged for
  CHECK(price(a100, pod("a").requests(kMig, "3")) == 40);

  const auto whole = make_plugin("GpuPacking", "{packPieces: false, keepWholeNodes: 1000}");
  REQUIRE(whole);
  CHECK(whole->score->max_score() == plain->score->max_score() + 20);
  const auto left = [&](const k8s::Node& object, const std::vector<k8s::Pod>& pods) {
    return OneNode(object, pods).score(*whole->score, pod("a").gpus(1));
  };
  CHECK(left(l4, {}) == 0);
  CHECK(left(l4, {pod("b").cpu("1")}) == 0);
  CHECK(left(l4, {pod("b").gpus(1)}) == 20);
  const k8s::Node partitioned = node("n").gpus(1).offers(kMig, "2");
  CHECK(left(partitioned, {}) == 0);
  CHECK(left(partitioned, {pod("b").requests(kMig, "1")}) == 20);
}

TEST_CASE("Each part of GpuPacking is a setting") {
  struct Case {
    const char* name;
    const char* args;
    k8s::Pod given;
    k8s::Node better;
    std::vector<k8s::Pod> on_better;
    k8s::Node worse;
  };
  const k8s::Node l4 = node("l4").gpus(8).product("NVIDIA-L4");
  const k8s::Node a100 = node("a100").gpus(8).product("NVIDIA-A100-SXM4-80GB");
  const k8s::Node h100 = node("h100").gpus(8).product("NVIDIA-H100-80GB-HBM3");
  constexpr const char* kCheap = "cheapTypesFirst: [L4, A100]";
  const std::vector<Case> cases = {
      {"a cheap type first", kCheap, pod("a").gpus(1), l4, {}, a100},
      {"what is not listed comes last", kCheap, pod("a").gpus(4), a100, {}, h100},
      {"also for MIG instances",
       kCheap,
       pod("a").requests(kMig, "1"),
       node("n").product("NVIDIA-A100-SXM4-80GB").offers(kMig, "2"),
       {},
       node("n").product("NVIDIA-H100-80GB-HBM3").offers(kMig, "2")},
      {"a node in use before an untouched one",
       "keepWholeNodes: 1000",
       pod("a").requests(kMig, "1"),
       node("n").offers(kMig, "4"),
       {pod("b").requests(kMig, "1").on("n")},
       node("n").offers(kMig, "2")},
  };
  for (const Case& each : cases) {
    INFO(each.name);
    const auto made = make_plugin("GpuPacking", each.args);
    REQUIRE(made);
    const std::int64_t better =
        OneNode(each.better, each.on_better).score(*made->score, each.given);
    CHECK(better > OneNode(each.worse).score(*made->score, each.given));
    CHECK(better <= made->score->max_score());
  }

  // Who says which GPU it wants pays nothing for it.
  const auto made = make_plugin("GpuPacking", kCheap);
  REQUIRE(made);
  for (const k8s::Pod& cares :
       {k8s::Pod(pod("a").gpus(1).selects("nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3")),
        k8s::Pod(pod("a").gpus(1).annotated("gpu-scheduler.io/gpu-type", "L4,H100")),
        k8s::Pod(pod("a").gpus(1).annotated("gpu-scheduler.io/min-gpu-memory", "20Gi")),
        k8s::Pod(pod("a").gpus(1).annotated("gpu-scheduler.io/min-compute-capability", "8.0")),
        k8s::Pod(pod("a").gpus(1).annotated("gpu-scheduler.io/mig-profile", "1g.10gb")),
        k8s::Pod(pod("a").gpus(1).prefers_nodes(
            1, tests::term({tests::label("nvidia.com/gpu.product").in({"NVIDIA-L4"})})))}) {
    CHECK(OneNode(l4).score(*made->score, cares) == OneNode(h100).score(*made->score, cares));
  }
  const k8s::Pod elsewhere =
      pod("a").gpus(1).prefers_nodes(1, tests::term({tests::label("zone").in({"z"})}));
  CHECK(OneNode(l4).score(*made->score, elsewhere) > OneNode(h100).score(*made->score, elsewhere));

  const auto none = make_plugin("GpuPacking", "{podsWithoutGpuApart: false, packPieces: false}");
  REQUIRE(none);
  CHECK(OneNode(l4).score(*none->score, pod("a").cpu("1")) == -1);
  CHECK(OneNode(l4).score(*none->score, pod("a").gpus(1)) == -1);
  CHECK_FALSE(make_plugin("GpuPacking", "cheapTypesFirst: [L4, '']"));
  std::string sixteen = "cheapTypesFirst: [T1";
  for (int i = 2; i <= 16; ++i) sixteen += ", T" + std::to_string(i);
  CHECK(make_plugin("GpuPacking", sixteen + "]"));
  CHECK_FALSE(make_plugin("GpuPacking", sixteen + ", T17]"));
  CHECK_FALSE(make_plugin("GpuPacking", "kind: UsableGpuArgs"));
  CHECK_FALSE(make_plugin("GpuPacking", "keepWholeNodes: -1"));
  CHECK(make_plugin("GpuPacking", "keepWholeNodes: 64000"));
  CHECK_FALSE(make_plugin("GpuPacking", "keepWholeNodes: 64001"));
  CHECK_FALSE(make_plugin("GpuPacking", "conserveCpu: -1"));
  CHECK_FALSE(make_plugin("GpuPacking", "conserveCpu: 101"));
  CHECK_FALSE(make_plugin("GpuPacking", "modelPrices: 2"));
}
