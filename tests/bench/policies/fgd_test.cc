#include "bench/policies/published/sigmoid_score.h"
#include "tests/plugins/gpu_node.h"
#include "tests/plugins/one_node.h"
#include "tests/plugins/random_gpus.h"
#include "tests/support/catch.h"

#include <cmath>

using sched::TypicalPod;
using tests::cpu_pod;
using tests::gpu_pod;
using tests::kind;
using tests::make_plugin;
using tests::NaiveNode;
using tests::Scored;
using tests::share_pod;
using tests::workload;

namespace {

// int(100 · sigmoid(x)).
std::int64_t sigmoid_score(double x) { return static_cast<std::int64_t>(100 / (1 + std::exp(-x))); }

// F_n(m), word by word as published.
std::int64_t fragment(const NaiveNode& node, const TypicalPod& pod) {
  std::int64_t all = 0;
  std::int64_t too_small = 0;
  std::int64_t large_enough = 0;
  for (const std::int64_t free : node.devices) {
    all += free;
    if (free < pod.milli) too_small += free;
    if (free >= pod.milli) ++large_enough;
  }
  if (pod.gpus == 0) return all;
  if (!node.allows(pod)) return all;
  if (pod.cpu > node.cpu) return all;
  if (large_enough < pod.gpus) return all;
  return too_small;
}

struct Covered {
  std::vector<TypicalPod> pods;
  std::int64_t count = 0;
};

Covered covered(const sched::ClusterContext& context) {
  Covered found;
  for (const TypicalPod& pod : context.pods) {
    if (static_cast<double>(found.count) >= 0.95 * static_cast<double>(context.pods_seen)) break;
    found.pods.push_back(pod);
    found.count += static_cast<std::int64_t>(pod.count);
  }
  return found;
}

// F_n(M), times the pods that M covers.
std::int64_t fragmentation(const NaiveNode& node, const Covered& typical) {
  std::int64_t sum = 0;
  for (const TypicalPod& pod : typical.pods) {
    sum += static_cast<std::int64_t>(pod.count) * fragment(node, pod);
  }
  return sum;
}

Scored naive_score(const NaiveNode& node, const tests::NaivePod& pod,
                   const sched::ClusterContext& context) {
  const Covered typical = covered(context);
  return tests::best_of(node, pod, [&](const NaiveNode& after) {
    const auto less = fragmentation(node, typical) - fragmentation(after, typical);
    return sigmoid_score(static_cast<double>(less) / static_cast<double>(typical.count) / 1'000);
  });
}

}  // namespace

TEST_CASE("the sigmoid score counts log-odds as the exponential does") {
  for (const std::uint64_t unit : {1U, 7U, 1'000U, 7'744'000U}) {
    const bench::SigmoidScore score(unit);
    CHECK(score.of(0) == 50);
    CHECK(score.of(-1) == (unit > 25 ? 49 : sigmoid_score(-1.0 / static_cast<double>(unit))));
    for (double x = -9; x < 9; x += 0.00625) {
      const double amount = std::floor(x * static_cast<double>(unit));
      INFO("unit " << unit << ", amount " << amount);
      CHECK(score.of(static_cast<std::int64_t>(amount)) ==
            sigmoid_score(amount / static_cast<double>(unit)));
    }
  }
}

TEST_CASE("Fgd prefers the node whose fragmentation grows least") {
  // Half the pods ask for a whole GPU and 4 CPUs, half for 400 thousandths and 2.
  const auto context = workload({kind(50, 4'000, 1, 1'000), kind(50, 2'000, 1, 400)});
  struct Case {
    const char* name;
    k8s::Pod given;
    tests::GpuNode node;
    Scored want;
  };
  const std::vector<Case> cases = {
      // F: 0 → (600 · 1/2): x = −0.3.
      {"a share of a free GPU", share_pod(2'000, 400), {16'000, {1'000}}, {42, 0}},
      // F: 600/2 → 200 · 1: x = +0.1. On the other device as above.
      {"the begun GPU", share_pod(2'000, 400), {16'000, {1'000, 600}}, {52, 1}},
      {"the first of equals", share_pod(2'000, 400), {16'000, {0, 600, 600}}, {52, 1}},
      // F: 0 → 0.
      {"a whole GPU", gpu_pod(4'000, 1), {16'000, {1'000, 1'000}}, {50, -1}},
      // F: 0 → 1,000: half the pods lack CPU afterwards, then all.
      {"CPU that one kind needs", cpu_pod(13'000), {16'000, {1'000}}, {37, -1}},
      {"CPU that all need", cpu_pod(15'000), {16'000, {1'000}}, {26, -1}},
      {"CPU to spare", cpu_pod(1'000), {16'000, {1'000}}, {50, -1}},
      {"a node without GPU", cpu_pod(1'000), {16'000, {}}, {50, -1}},
      // F: 200 → 0.
      {"a sliver", share_pod(0, 200), {16'000, {200}}, {54, 0}},
      {"nothing requested", tests::pod("a"), {16'000, {1'000}}, {100, -1}},
      {"a MIG instance",
       tests::pod("a").requests("nvidia.com/mig-3g.40gb", "1"),
       {16'000, {1'000}},
       {-1, -1}},
  };
  const auto made = make_plugin("Fgd");
  REQUIRE(made);
  CHECK(made->score->reads_statistics());
  for (const Case& each : cases) {
    INFO(each.name);
    CHECK(each.node.ask(*made->score, each.given, context) == each.want);
  }
}

TEST_CASE("Fgd knows typical pods only") {
  const auto made = make_plugin("Fgd");
  REQUIRE(made);
  const tests::GpuNode node(16'000, {1'000});
  CHECK(node.ask(*made->score, gpu_pod(0, 1)) == Scored{-1, -1});  // nothing is known

  // The kind that needs much CPU is one of the five per cent that do not count.
  const std::vector<TypicalPod> kinds = {kind(95, 1'000, 1, 500), kind(5, 8'000, 1, 500)};
  CHECK(node.ask(*made->score, cpu_pod(12'000), workload(kinds)) == Scored{50, -1});
  // Once it is more frequent it does.
  std::vector<TypicalPod> more = kinds;
  more[1].count = 6;
  CHECK(node.ask(*made->score, cpu_pod(12'000), workload(more)) == Scored{48, -1});
}

TEST_CASE("Fgd asks which models a kind may run on") {
  const auto made = make_plugin("Fgd");
  REQUIRE(made);
  const auto context = workload({kind(1, 0, 1, 1'000, {"A", "B"}), kind(1, 0, 1, 1'000, {"C"})});
  const k8s::Pod given = share_pod(0, 500);
  // F: 1/2 → 1/2: the rest is of no use to the allowed kind either; else 1 → 1/2.
  CHECK(tests::GpuNode(0, {1'000}).product("A").ask(*made->score, given, context).score == 50);
  CHECK(tests::GpuNode(0, {1'000}).product("C").ask(*made->score, given, context).score == 50);
  CHECK(tests::GpuNode(0, {1'000}).product("D").ask(*made->score, given, context).score == 62);
  CHECK(tests::GpuNode(0, {1'000}).ask(*made->score, given, context).score == 62);
}

TEST_CASE("Fgd gives what its definition gives, on random nodes, pods and workloads") {
  const auto made = make_plugin("Fgd");
  REQUIRE(made);
  tests::RandomGpus random(17);
  for (int round = 0; round < 40; ++round) {
    const sched::ClusterContext context = random.workload();
    for (int i = 0; i < 50; ++i) {
      const NaiveNode node = random.node();
      const tests::NaivePod pod = random.pod_for(node);
      INFO(node << ", " << pod);
      CHECK(node.ask(*made->score, pod, context) == naive_score(node, pod, context));
    }
  }
}
