#include "scheduler/cluster/workload.h"

#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <array>
#include <cstddef>
#include <string>
#include <vector>

using namespace sched;
using namespace tests;

namespace {

struct World {
  ResourceNames names;
  Nodes nodes;
  WorkloadStatistics statistics{std::nullopt, true};

  const ClusterContextPtr& current() { return statistics.current(nodes); }

  void arrive(const k8s::Pod& pod, int times = 1) {
    const PodShape shape = shape_of(pod, names);
    for (int i = 0; i < times; ++i) statistics.pod_arrived(shape);
  }
  NodeFacts facts(const k8s::Node& object) { return facts_of(object, names); }
};

k8s::Pod share(std::string_view cpu, std::string_view milli) {
  return pod("s").cpu(cpu).requests("gpu-scheduler.io/gpu-milli", milli);
}

}  // namespace

TEST_CASE("kinds of pods are counted, the most frequent first, then by cpu, share, GPUs, models") {
  World world;
  std::vector<PodShape> shapes;
  const auto add = [&](const k8s::Pod& object) { shapes.push_back(shape_of(object, world.names)); };
  add(pod("a").cpu("4"));
  for (int i = 0; i < 2; ++i) add(pod("b").cpu("4").gpus(1).memory(i == 0 ? "1Gi" : "2Gi"));
  add(share("4", "500"));
  add(share("8", "250"));
  add(pod("c").cpu("4").gpus(2).selects("nvidia.com/gpu.product", "T4"));
  add(pod("mig").cpu("4").requests("nvidia.com/mig-1g.5gb", "1"));  // no kind of these

  const auto kinds = kinds_of(shapes, true);
  CHECK(kinds == std::vector<TypicalPod>{
                     {.cpu = 4000,
                      .gpus = 1,
                      .milli = 1000,
                      .products = {},
                      .count = 2,
                      .memory = 1536},  // the mean
                     {.cpu = 8000, .gpus = 1, .milli = 250, .products = {}, .count = 1},
                     {.cpu = 4000, .gpus = 2, .milli = 1000, .products = {"T4"}, .count = 1},
                     {.cpu = 4000, .gpus = 1, .milli = 500, .products = {}, .count = 1},
                     {.cpu = 4000, .gpus = 0, .milli = 0, .products = {}, .count = 1}});

  // Where GPUs are only counted a share is a plain resource.
  CHECK(kinds_of({shapes[4]}, false) ==
        std::vector<TypicalPod>{{.cpu = 8000, .gpus = 0, .milli = 0, .products = {}, .count = 1}});
}

TEST_CASE("a version is published when enough has come that says something new") {
  World world;
  CHECK(world.current()->version == 0);
  world.arrive(pod("a").cpu("4").gpus(1), 31);
  CHECK(world.current()->version == 0);
  world.arrive(pod("a").cpu("4").gpus(1));
  CHECK(world.current()->version == 1);
  CHECK(world.current()->pods_seen == 32);

  SECTION("more of the same is no news") {
    world.arrive(pod("a").cpu("4").gpus(1), 5'000);
    CHECK(world.current()->version == 1);
  }
  SECTION("a workload that changes is") {
    world.arrive(pod("b").cpu("8").gpus(1), 32);
    CHECK(world.current()->version == 2);
    CHECK(world.current()->pods.size() == 2);
  }
  SECTION("so is a single pod of a new kind with several GPUs, at the next look") {
    world.arrive(pod("a").cpu("4").gpus(1), 5'000);
    CHECK(world.current()->version == 1);
    world.arrive(pod("c").cpu("8").gpus(8));
    CHECK(world.current()->version == 1);
    world.arrive(pod("a").cpu("4").gpus(1), 1'024);
    CHECK(world.current()->version == 2);
    CHECK(world.current()->pods.back().gpus == 8);
  }
}

TEST_CASE("a single pod of a new kind with one GPU is no news") {
  World world;
  world.arrive(pod("a").cpu("4").gpus(1), 5'000);
  const auto version = world.current()->version;
  world.arrive(pod("c").cpu("8").gpus(1));
  world.arrive(pod("a").cpu("4").gpus(1), 1'024);
  CHECK(world.current()->version == version);
}

TEST_CASE("of more kinds of pods than are counted those that came once are dropped") {
  World world;
  const auto most = static_cast<int>(WorkloadStatistics::kMostKinds);
  world.arrive(pod("a").cpu("4").gpus(1), 100);
  for (int i = 0; i < most; ++i) world.arrive(pod("b").cpu(std::to_string(10 + i) + "m"));
  world.arrive(pod("c").cpu("8").gpus(8));
  for (int i = 0; i < most - 2; ++i) world.arrive(pod("b").cpu(std::to_string(10 + i) + "m"));
  const ClusterContextPtr seen = world.current();
  CHECK(seen->pods.size() <= WorkloadStatistics::kMostKinds);
  CHECK(seen->pods.front().cpu == 4'000);
  CHECK(seen->pods.front().count == 50);
}

TEST_CASE("of the products that a pod names those count that there are; of very many, none") {
  World world;
  const auto naming = [](std::size_t products) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < products; ++i) names.push_back("P" + std::to_string(i));
    return pod("a").gpus(1).requires_nodes(
        {tests::term({tests::label("nvidia.com/gpu.product").in(names)})});
  };
  const NodeFacts p3 = world.facts(node("a").gpus(8).product("P3"));
  world.statistics.node_changed(nullptr, &p3);
  world.arrive(naming(20), 32);
  CHECK(world.current()->pods.front().products == std::vector<std::string>{"P3"});
  world.arrive(naming(3), 64);
  CHECK(world.current()->pods.front().products == std::vector<std::string>{"?"});
  world.arrive(naming(40), 128);
  CHECK(world.current()->pods.front().products.empty());
}

TEST_CASE("kinds of pods that name no product of a node are one, until a node has it") {
  World world;
  for (const char* product : {"NVIDIA-L4", "Tesla-T4"}) {
    world.arrive(pod("a").gpus(1).selects("nvidia.com/gpu.product", product), 32);
  }
  REQUIRE(world.current()->pods.size() == 1);
  CHECK(world.current()->pods.front().count == 64);
  const NodeFacts l4 = world.facts(node("b").gpus(1).product("NVIDIA-L4"));
  world.statistics.node_changed(nullptr, &l4);
  REQUIRE(world.current()->pods.size() == 2);
  CHECK(world.current()->pods.front().count == 32);
}

TEST_CASE("the first node of a model is told of at once") {
  World world;
  const NodeFacts t4 = world.facts(node("a").gpus(8).product("Tesla-T4"));
  for (int i = 0; i < 100; ++i) world.statistics.node_changed(nullptr, &t4);
  const auto version = world.current()->version;
  world.statistics.node_changed(nullptr, &t4);
  CHECK(world.current()->version == version);
  const NodeFacts l4 = world.facts(node("b").gpus(1).product("NVIDIA-L4"));
  world.statistics.node_changed(nullptr, &l4);
  CHECK(world.current()->version == version + 1);
  world.statistics.node_changed(nullptr, &l4);
  CHECK(world.current()->version == version + 1);
}

TEST_CASE("where there are many nodes it is looked at less often") {
  constexpr int kNodes = 6'000;
  World world;
  const NodeFacts cpu_node = world.facts(node("cpu"));
  for (int i = 0; i < kNodes; ++i) world.statistics.node_changed(nullptr, &cpu_node);
  world.arrive(pod("a").cpu("4").gpus(1), 4'096);  // the next look is at 7,096
  const auto version = world.current()->version;
  world.arrive(pod("c").cpu("8").gpus(8));

  SECTION("after half as many pods as there are nodes") {
    world.arrive(pod("a").cpu("4").gpus(1), kNodes / 2 - 2);
    CHECK(world.current()->version == version);
    world.arrive(pod("a").cpu("4").gpus(1));
    CHECK(world.current()->version == version + 1);
  }
  SECTION("nodes that are gone do not count") {
    for (int i = 0; i < kNodes; ++i) world.statistics.node_changed(&cpu_node, nullptr);
    world.arrive(pod("a").cpu("4").gpus(1), 3'000);
    static_cast<void>(world.current());
    world.arrive(pod("d").cpu("8").gpus(4));
    world.arrive(pod("a").cpu("4").gpus(1), 1'024);
    CHECK(world.current()->version == version + 2);
  }
}

TEST_CASE("a version for the sake of nodes tells of no pods while there are few") {
  World world;
  world.arrive(pod("a").cpu("4").gpus(1), 31);
  const NodeFacts a = world.facts(node("a").gpus(8));
  world.statistics.node_changed(nullptr, &a);
  CHECK(world.current()->version == 1);
  CHECK(world.current()->pods.empty());
  CHECK(world.current()->pods_seen == 0);
  world.arrive(pod("a").cpu("4").gpus(1));
  CHECK(world.current()->pods_seen == 32);
}

TEST_CASE("what came long ago is forgotten") {
  World world;
  world.arrive(pod("old").cpu("1").gpus(1), 20);
  world.arrive(pod("new").cpu("2").gpus(1), 400'000);
  CHECK(world.current()->pods.size() == 1);
  CHECK(world.current()->pods_seen < WorkloadStatistics::kMemory);
}

TEST_CASE("nodes with GPUs are counted by kind, and a version tells of those that came or went") {
  World world;
  const auto large = [&](const char* memory) {
    return world.facts(node("a").gpus(8).product("A100").cpu("96").memory(memory));
  };
  const NodeFacts a = large("384Gi");
  const NodeFacts a2 = world.facts(node("a2").gpus(8).product("A100").cpu("96").memory("384Gi"));
  const NodeFacts b = world.facts(node("b").gpus(4).cpu("8500m").memory("65000Mi"));
  for (const NodeFacts* each : {&a, &a2, &b}) world.statistics.node_changed(nullptr, each);
  constexpr std::int64_t kGib = 1'024;
  const GpuNodeKind kind_a{.product = "A100", .gpus = 8, .cpu = 96'000, .memory = 384 * kGib};
  // Whole cores and whole GiB: nodes of a kind differ in the rest.
  const GpuNodeKind kind_b{.product = "", .gpus = 4, .cpu = 8'000, .memory = 63 * kGib};
  using Kinds = std::map<GpuNodeKind, std::int64_t>;
  const auto first = world.current();
  CHECK(first->version == 1);
  CHECK(first->gpus == 20);
  CHECK(first->gpu_nodes == Kinds{{kind_a, 2}, {kind_b, 1}});

  NodeFacts cordoned = a;
  cordoned.unschedulable = true;
  world.statistics.node_changed(&a, &cordoned);
  const NodeFacts with_less = large("393215Mi");  // the same GiB but for one
  CHECK(world.current() == first);

  world.statistics.node_changed(&cordoned, &with_less);
  GpuNodeKind kind_less = kind_a;
  kind_less.memory -= kGib;
  CHECK(world.current()->gpu_nodes == Kinds{{kind_a, 1}, {kind_less, 1}, {kind_b, 1}});

  world.statistics.node_changed(&with_less, nullptr);
  CHECK(world.current()->gpu_nodes == Kinds{{kind_a, 1}, {kind_b, 1}});
}

TEST_CASE("a kind's memory is the mean of its pods, also when old pods count less") {
  World world;
  const auto memory = [&] {
    const auto& pods = world.current()->pods;
    REQUIRE(pods.size() == 1);
    return pods.front().memory;
  };
  world.arrive(pod("a").cpu("4").gpus(1).memory("10Gi"), 24);
  world.arrive(pod("a").cpu("4").gpus(1).memory("50Gi"), 8);
  CHECK(memory() == 20 * 1024);
  // Half of what came before the memory was full counts: 32,768 pods, most of them of 30 GiB.
  world.arrive(pod("a").cpu("4").gpus(1).memory("30Gi"),
               static_cast<int>(WorkloadStatistics::kMemory) - 32);
  world.arrive(pod("a").cpu("4").gpus(1).memory("60Gi"), 16'384);
  world.arrive(pod("b").cpu("2").gpus(2), 2'048);  // a new kind: a version is due
  const auto& pods = world.current()->pods;
  REQUIRE(pods.size() == 2);
  CHECK(pods[0].count == 32'768 + 16'384);
  CHECK(pods[0].memory == Approx(40 * 1024).margin(32));
  CHECK(pods[1].memory == 0);
}

TEST_CASE("amounts that no node has stay within what can be added up") {
  World world;
  world.arrive(pod("a").cpu("4").gpus(1).memory("8Ei"), 64);
  CHECK(world.current()->pods.front().memory > 0);
}

TEST_CASE("a trace that is known beforehand is not learned") {
  WorkloadStatistics statistics(
      std::vector<TypicalPod>{{.cpu = 1, .gpus = 1, .milli = 1000, .products = {}, .count = 3}},
      true);
  ResourceNames names;
  for (int i = 0; i < 100; ++i) statistics.pod_arrived(shape_of(pod("a").gpus(2), names));
  const Nodes nodes;
  CHECK(statistics.current(nodes)->version == 0);
  CHECK(statistics.current(nodes)->pods_seen == 3);
  CHECK(statistics.current(nodes)->devices_apart);
}

TEST_CASE("that CPU has become scarce, or no longer is, is published") {
  for (const bool known : {false, true}) {
    INFO(known);
    World world;
    if (known) world.statistics = WorkloadStatistics(std::vector<TypicalPod>{}, true);
    CHECK(world.nodes.upsert(world.facts(node("a").gpus(8).cpu("100"))));
    const NodeSlot slot = world.nodes.find("a");
    std::array<Occupant, 3> pods;
    for (Occupant& each : pods) each.claim.requests = {{kCpu, 1'000}};
    pods[0].claim.requests = {{kCpu, 88'000}, {kNvidiaGpu, 4}};
    world.arrive(pod("a").cpu("4").gpus(1), 32);
    const auto version = world.current()->version;
    CHECK_FALSE(world.current()->cpu_is_scarce);
    world.arrive(pod("a").cpu("8").gpus(1), 20);

    // It is looked at after 256 changes of nodes, of which each of these is one.
    const auto changes = [&](int count) {
      for (; count > 0; count -= 2) {
        world.nodes.remove(slot, pods[0]);
        world.nodes.add(slot, pods[0]);
      }
    };
    for (const Occupant& each : pods) world.nodes.add(slot, each);
    changes(252);
    CHECK_FALSE(world.current()->cpu_is_scarce);
    changes(2);
    CHECK(world.current()->cpu_is_scarce);
    CHECK(world.current()->version == version + 1);
    CHECK(world.current()->pods_seen == (known ? 0 : 32));  // not those who came since

    // 88 of 100 cores would not be scarce if they had not been before.
    for (std::size_t i = 1; i < pods.size(); ++i) world.nodes.remove(slot, pods[i]);
    changes(256);
    CHECK(world.current()->version == version + 1);
    world.nodes.remove(slot, pods[0]);
    pods[0].claim.requests = {{kCpu, 87'000}};
    world.nodes.add(slot, pods[0]);
    changes(256);
    CHECK_FALSE(world.current()->cpu_is_scarce);
    CHECK(world.current()->version == version + 2);
  }
}

TEST_CASE("in a large cluster CPU is looked at after as many changes as there are nodes") {
  World world;
  for (int i = 0; i < 1'000; ++i) {
    const NodeFacts facts = world.facts(node("n" + std::to_string(i)).gpus(1).cpu("1"));
    CHECK(world.nodes.upsert(facts));
    world.statistics.node_changed(nullptr, &facts);
  }
  CHECK_FALSE(world.current()->cpu_is_scarce);
  std::vector<Occupant> pods(1'000);
  for (std::size_t i = 0; i < pods.size(); ++i) {
    CHECK_FALSE(world.current()->cpu_is_scarce);
    pods[i].claim.requests = {{kCpu, 1'000}};
    world.nodes.add(world.nodes.find("n" + std::to_string(i)), pods[i]);
  }
  CHECK(world.current()->cpu_is_scarce);
}
