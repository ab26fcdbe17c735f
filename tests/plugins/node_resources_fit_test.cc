#include "plugins/node_resources_fit/args.h"
#include "plugins/node_resources_fit/exact_amount.h"
#include "plugins/support/share.h"
#include "tests/plugins/one_node.h"
#include "tests/support/catch.h"

#include <limits>

using plugins::NodeResourcesFitArgs;
using tests::Answer;
using tests::make_plugin;
using tests::node;
using tests::OneNode;
using tests::pod;
using Pods = std::vector<k8s::Pod>;

TEST_CASE("NodeResourcesFit: what fits and what does not") {
  struct Case {
    const char* name;
    k8s::Pod given;
    k8s::Node node;
    Pods on_node;
    Answer want;
  };
  const auto gpu_node = [] { return node("n").cpu("4").gpus(2); };
  const std::vector<Case> cases = {
      {"a pod without requests", pod("a"), gpu_node(), {}, tests::kFits},
      {"to the unit", pod("a").cpu("4").gpus(2), gpu_node(), {}, tests::kFits},
      {"taken",
       pod("a").gpus(1),
       gpu_node(),
       {pod("b").gpus(2)},
       tests::unschedulable({"Insufficient nvidia.com/gpu"})},
      {"more than there is at all",
       pod("a").gpus(3),
       gpu_node(),
       {},
       tests::unresolvable({"Insufficient nvidia.com/gpu"})},
      {"all that is short, and one of it for good",
       pod("a").cpu("2").gpus(3),
       gpu_node(),
       {pod("b").cpu("3")},
       tests::unresolvable({"Insufficient cpu", "Insufficient nvidia.com/gpu"})},
      {"a resource that the node does not know",
       pod("a").requests("amd.com/gpu", "1"),
       gpu_node(),
       {},
       tests::unresolvable({"Insufficient amd.com/gpu"})},
      {"none of it, of a node that does not know it",
       pod("a").requests("amd.com/gpu", "0"),
       gpu_node(),
       {},
       tests::kFits},
      {"a resource that the node has none of",
       pod("a").gpus(1),
       node("n").gpus(0),
       {},
       tests::unresolvable({"Insufficient nvidia.com/gpu"})},
      {"too many pods can be evicted",
       pod("a"),
       node("n").pods(1),
       {pod("b")},
       tests::unschedulable({"Too many pods"})},
      {"room for one pod", pod("a"), node("n").pods(1), {}, tests::kFits},
      {"room for no pods at all is not for good either",
       pod("a"),
       node("n").pods(0),
       {},
       tests::unschedulable({"Too many pods"})},
      {"no word on pods is room for none",
       pod("a"),
       node("n").lacks("pods"),
       {},
       tests::unschedulable({"Too many pods"})},
      {"pods and memory",
       pod("a").memory("1Gi"),
       node("n").pods(1).memory("1Gi"),
       {pod("b").memory("1")},
       tests::unschedulable({"Too many pods", "Insufficient memory"})},
      {"an over-committed node and a pod without requests",
       pod("a"),
       node("n").cpu("1"),
       {pod("b").cpu("2")},
       tests::kFits},
      {"ephemeral storage",
       pod("a").requests("ephemeral-storage", "2Gi"),
       node("n").offers("ephemeral-storage", "1Gi"),
       {},
       tests::unresolvable({"Insufficient ephemeral-storage"})},
      {"huge pages",
       pod("a").requests("hugepages-2Mi", "4Mi"),
       node("n").offers("hugepages-2Mi", "4Mi"),
       {pod("b").requests("hugepages-2Mi", "2Mi")},
       tests::unschedulable({"Insufficient hugepages-2Mi"})},
      {"a fraction of a byte is a byte",
       pod("a").memory("1500m"),
       node("n").memory("1"),
       {},
       tests::unresolvable({"Insufficient memory"})},
  };
  const auto made = make_plugin("NodeResourcesFit");
  REQUIRE(made);
  for (const Case& each : cases) {
    INFO(each.name);
    CHECK(OneNode(each.node, each.on_node).ask(*made->filter, each.given) == each.want);
  }
}

TEST_CASE("NodeResourcesFit leaves ignored extended resources to others") {
  const auto made = make_plugin("NodeResourcesFit",
                                "{ignoredResources: [example.com/a, cpu], "
                                "ignoredResourceGroups: [example.org]}");
  REQUIRE(made);
  OneNode asked(node("n").cpu("1"));
  CHECK(asked.ask(*made->filter, pod("p").requests("example.com/a", "1")) == tests::kFits);
  CHECK(asked.ask(*made->filter, pod("p").requests("example.org/b", "1")) == tests::kFits);
  CHECK(asked.ask(*made->filter, pod("p").requests("example.com/b", "1")) ==
        tests::unresolvable({"Insufficient example.com/b"}));
  CHECK(asked.ask(*made->filter, pod("p").cpu("2")) == tests::unresolvable({"Insufficient cpu"}));
}

TEST_CASE("NodeResourcesFit gives the numbers") {
  const auto made = make_plugin("NodeResourcesFit");
  REQUIRE(made);
  OneNode asked(node("n").cpu("4").memory("8Gi").gpus(8).pods(1),
                {pod("b").cpu("3500m").memory("1Gi").gpus(7)});
  CHECK(asked.numbers(*made->filter, pod("a").cpu("1").memory("7.5Gi").gpus(4)) ==
        std::vector<std::string>{"pods: asked 1, free 0 of 1", "cpu: asked 1, free 500m of 4",
                                 "memory: asked 7680Mi, free 7Gi of 8Gi",
                                 "nvidia.com/gpu: asked 4, free 1 of 8"});
  // GPUs that have failed are not offered any more, but pods still have them.
  OneNode failed(node("n").gpus(1), {pod("b").gpus(7)});
  CHECK(failed.numbers(*made->filter, pod("a").gpus(1)) ==
        std::vector<std::string>{"nvidia.com/gpu: asked 1, free 0 of 1; its pods take 7, more than "
                                 "the node offers"});
}

TEST_CASE(
    "NodeResourcesFit gives bounds and shortages of all that it counts, and of nothing else") {
  const auto made = make_plugin("NodeResourcesFit", "ignoredResources: [example.com/a]");
  REQUIRE(made);
  sched::ResourceNames names;
  const k8s::Pod given = pod("a").cpu("2").gpus(4).requests("example.com/a", "5");
  const auto prepared = made->filter->prepare(sched::shape_of(given, names), {names});
  REQUIRE(prepared.filter);
  CHECK(prepared.filter->least_free(sched::kCpu) == 2'000);
  CHECK(prepared.filter->least_free(sched::kNvidiaGpu) == 4);
  CHECK(prepared.filter->least_free(sched::kMemory) == 0);
  const auto ignored = names.find("example.com/a");
  REQUIRE(ignored);
  CHECK(prepared.filter->least_free(*ignored) == 0);

  const sched::NodeFacts facts = sched::facts_of(node("n").cpu("8").gpus(8).pods(3), names);
  sched::NodeUsage usage;
  usage.requested.set(sched::kPods, 3);
  usage.requested.set(sched::kNvidiaGpu, 6);
  struct Want {
    sched::ResourceId resource;
    std::int64_t asked;
    std::int64_t free;
    std::int64_t capacity;
  };
  REQUIRE(prepared.filter->reasons().size() == 3);
  const std::vector<Want> wants = {
      {sched::kPods, 1, 0, 3}, {sched::kCpu, 2'000, 8'000, 8'000}, {sched::kNvidiaGpu, 4, 2, 8}};
  for (unsigned i = 0; i < wants.size(); ++i) {
    INFO(prepared.filter->reasons()[i]);
    const auto found = prepared.filter->shortage({facts, usage}, i);
    REQUIRE(found);
    CHECK((found->resource == wants[i].resource));
    CHECK(found->asked == wants[i].asked);
    CHECK(found->free == wants[i].free);
    CHECK(found->capacity == wants[i].capacity);
  }
}

TEST_CASE("amounts are written exactly") {
  CHECK(plugins::exact_amount("cpu", 1500) == "1500m");
  CHECK(plugins::exact_amount("cpu", -2000) == "-2");
  CHECK(plugins::exact_amount("memory", 1025) == "1025");
  CHECK(plugins::exact_amount("memory", 0) == "0");
  CHECK(plugins::exact_amount("hugepages-2Mi", 2 * 1024 * 1024) == "2Mi");
  CHECK(plugins::exact_amount("ephemeral-storage", 3 * 1024) == "3Ki");
  CHECK(plugins::exact_amount("nvidia.com/gpu", 1024) == "1024");
}

TEST_CASE("NodeResourcesFit refuses a pod that names more resources than pods may") {
  const auto made = make_plugin("NodeResourcesFit");
  REQUIRE(made);
  tests::PodBuilder greedy = pod("a");
  std::vector<std::string> short_of;
  for (std::size_t i = 0; i < sched::kMostResourcesOfPod; ++i) {
    const std::string name = "example.com/r" + std::to_string(i);
    greedy.requests(name, "1");
    short_of.push_back("Insufficient " + name);
  }
  CHECK(OneNode(node("n")).ask(*made->filter, greedy) == tests::unresolvable(short_of));
  greedy.requests("example.com/one-more", "1");
  CHECK(OneNode(node("n")).ask(*made->filter, greedy) ==
        tests::unresolvable({"pod asks for more than 60 different resources"}));
}

TEST_CASE("NodeResourcesFit scores by the share that is taken") {
  constexpr const char* kMost = "{scoringStrategy: {type: MostAllocated}}";
  constexpr const char* kGpus =
      "{scoringStrategy: {type: MostAllocated, resources: [{name: nvidia.com/gpu, weight: 3}, "
      "{name: cpu}]}}";
  constexpr const char* kStorage =
      "{scoringStrategy: {type: LeastAllocated, resources: [{name: ephemeral-storage}]}}";
  const auto by = [](const std::string& shape) {
    return "{scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: {shape: "
           "[" +
           shape + "]}}}";
  };
  const std::string rising = by("{utilization: 0, score: 0}, {utilization: 100, score: 10}");
  const std::string falling = by("{score: 10}, {utilization: 100}");
  const std::string late = by("{utilization: 40, score: 0}, {utilization: 60, score: 10}");
  const std::string steps =
      by("{utilization: 27, score: 7}, {utilization: 37, score: 2}, "
         "{utilization: 40, score: 9}");
  struct Case {
    const char* name;
    std::string args;
    k8s::Pod given;
    std::int64_t want;
  };
  // On the node: 2 of 8 CPUs, 8 of 32Gi, 3 of 4 GPUs.
  const std::vector<Case> cases = {
      {"least: cpu (8-3)/8, memory (32-16)/32", "", pod("a").cpu("1").memory("8Gi"), 56},
      {"least: containers without requests count a little", "", pod("a"), 73},
      {"least: what does not fit is worth nothing", "", pod("a").cpu("7").memory("8Gi"), 25},
      {"most: cpu 3/8, memory 16/32", kMost, pod("a").cpu("1").memory("8Gi"), 43},
      {"most: what does not fit counts as full", kMost, pod("a").cpu("7").memory("24Gi"), 100},
      {"weights: GPUs 4/4 three times, cpu 4/8 once", kGpus, pod("a").cpu("2").gpus(1), 87},
      {"GPUs do not count for a pod that asks for none", kGpus, pod("a").cpu("2"), 50},
      {"a resource the node does not have is left out", kStorage, pod("a"), 0},
      {"ratio: cpu 37, memory 50, rounded up", rising, pod("a").cpu("1").memory("8Gi"), 44},
      {"ratio: what does not fit counts as full", rising, pod("a").cpu("7").memory("8Gi"), 75},
      {"ratio: cpu 63, memory 50", falling, pod("a").cpu("1").memory("8Gi"), 57},
      {"ratio: cpu, which scores 0, does not count", late, pod("a").cpu("1").memory("8Gi"), 50},
      {"ratio: nothing counts", late, pod("a").cpu("1"), 0},
      {"ratio: at a point, and behind the last", steps, pod("a").cpu("1").memory("8Gi"), 55},
      {"ratio: before the first, or between two", steps, pod("a").memory("1Gi"), 68},
  };
  OneNode asked(node("n").gpus(4), {pod("b").cpu("2").memory("8Gi").gpus(3)});
  for (const Case& each : cases) {
    INFO(each.name);
    const auto made = make_plugin("NodeResourcesFit", each.args);
    REQUIRE(made);
    CHECK(made->score->normalisation() == sched::Normalisation::kNone);
    CHECK(asked.score(*made->score, each.given) == each.want);
  }
}

TEST_CASE("NodeResourcesFit: pods that ask for no CPU or memory count a little where they run") {
  // 100m of CPU and 200Mi of memory each, as upstream has it.
  struct Case {
    const char* resource;
    std::int64_t want;
  };
  for (const Case& each : {Case{"cpu", 90}, Case{"memory", 75}}) {
    INFO(each.resource);
    const auto made = make_plugin("NodeResourcesFit",
                                  "{scoringStrategy: {type: LeastAllocated, resources: [{name: " +
                                      std::string(each.resource) + "}]}}");
    REQUIRE(made);
    OneNode asked(node("n").cpu("10").memory("4000Mi"), {pod("b"), pod("c"), pod("d"), pod("e")});
    CHECK(asked.score(*made->score, pod("a").cpu("600m")) == each.want);
  }
}

TEST_CASE("NodeResourcesFit counts ephemeral storage of pods that ask for none") {
  const auto made = make_plugin(
      "NodeResourcesFit",
      "{scoringStrategy: {type: LeastAllocated, resources: [{name: ephemeral-storage}]}}");
  REQUIRE(made);
  OneNode asked(node("n").offers("ephemeral-storage", "4Gi"),
                {pod("b").requests("ephemeral-storage", "1Gi")});
  CHECK(asked.score(*made->score, pod("a")) == 75);
}

TEST_CASE("shares of large amounts are exact") {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  CHECK(plugins::percentage(kMax, kMax) == 100);
  CHECK(plugins::percentage(kMax - 1, kMax) == 99);
  CHECK(plugins::percentage(0, 3) == 0);
}

TEST_CASE("NodeResourcesFit reads its arguments") {
  using Strategy = NodeResourcesFitArgs::Strategy;
  const auto read = [](std::string_view text) {
    const auto documents = k8s::yaml::parse(text, "args.yaml");
    REQUIRE(documents);
    k8s::yaml::ObjectReader reader(documents->front(), "args.yaml");
    const NodeResourcesFitArgs args = plugins::read_node_resources_fit_args(reader);
    CHECK_FALSE(reader.finish());
    return args;
  };
  CHECK(read("kind: NodeResourcesFitArgs") == NodeResourcesFitArgs{});
  NodeResourcesFitArgs want;
  want.strategy = Strategy::kMostAllocated;
  want.resources = {{"cpu", 1}, {"nvidia.com/gpu", 5}};
  want.ignored_resources = {"example.com/a"};
  want.ignored_resource_groups = {"example.org"};
  CHECK(read("{scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 0}, "
             "{name: nvidia.com/gpu, weight: 5}]}, ignoredResources: [example.com/a], "
             "ignoredResourceGroups: [example.org]}") == want);
  NodeResourcesFitArgs ratio;
  ratio.strategy = Strategy::kByUtilization;
  ratio.shape = {{.utilization = 0, .score = 30}, {.utilization = 80, .score = 0}};
  CHECK(read("{scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: "
             "{shape: [{score: 3}, {utilization: 80}]}}}") == ratio);
}

TEST_CASE("NodeResourcesFit: arguments that make no sense") {
  struct Case {
    const char* args;
    const char* complaint;
  };
  const std::vector<Case> cases = {
      {"scoringStrategy: {type: RequestedToCapacityRatio}",
       "requestedToCapacityRatio: is missing: its shape"},
      {"scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: {}}",
       "shape: needs a point"},
      {"scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: "
       "{shape: [{utilization: 5}, {utilization: 5}]}}",
       "shape[1].utilization: must be above"},
      {"scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: "
       "{shape: [{utilization: 101}]}}",
       "utilization"},
      {"scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: "
       "{shape: [{score: 11}]}}",
       "score"},
      {"scoringStrategy: {type: MostAllocated, requestedToCapacityRatio: {shape: [{}]}}",
       "is for the type RequestedToCapacityRatio alone"},
      {"scoringStrategy: {type: Fullest}", "MostAllocated"},
      {"scoringStrategy: {}", "is missing"},
      {"scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 101}]}", "weight"},
      {"scoringStrategy: {type: MostAllocated, resources: [{weight: 1}]}", "name"},
      {"ignoredResources: [a b]", "'a b' is not a name"},
      {"ignoredResourceGroups: [example.com/a]", "may not contain '/'"},
      {"scoringstrategy: {}", "scoringstrategy"},
  };
  for (const Case& each : cases) {
    INFO(each.args);
    const auto made = make_plugin("NodeResourcesFit", each.args);
    REQUIRE_FALSE(made);
    CHECK_THAT(made.error().message, Catch::Contains(each.complaint));
  }
}
