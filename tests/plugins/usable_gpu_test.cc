#include "plugins/usable_gpu/args.h"
#include "plugins/usable_gpu/weights.h"
#include "tests/plugins/gpu_node.h"
#include "tests/plugins/one_node.h"
#include "tests/plugins/random_gpus.h"
#include "tests/support/catch.h"

#include <cmath>
#include <numeric>
#include <string>

using plugins::Popularity;
using plugins::usable_gpu_weights;
using plugins::UsableGpuArgs;
using plugins::UsableGpuWeights;
using sched::ClusterContext;
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

constexpr std::int64_t kMost = 64'000;  // thousandths of the GPUs of the largest node

// The settings by the names that they have where they are measured.
constexpr UsableGpuWeights kP1{.coverage = 90,
                               .popularity = Popularity::kLinear,
                               .half_exponents = 6,
                               .keep_all_multi_gpu = false,
                               .multi_gpu_factor = 0,
                               .scarcity = false,
                               .model_prices = false};
constexpr UsableGpuWeights kP2{.coverage = 85,
                               .popularity = Popularity::kSqrt,
                               .half_exponents = 7,
                               .keep_all_multi_gpu = false,
                               .multi_gpu_factor = 0,
                               .scarcity = false,
                               .model_prices = false};
constexpr UsableGpuWeights kD9{};
constexpr UsableGpuWeights kBoth{.coverage = 90,
                                 .popularity = Popularity::kSqrt,
                                 .half_exponents = 7,
                                 .keep_all_multi_gpu = true,
                                 .multi_gpu_factor = 200,
                                 .scarcity = true,
                                 .model_prices = true};

constexpr const char* kArgsP1 =
    "{quantum: 100, multiGpu: {keepAll: false, factor: 0}, scarcity: false, conserveCpu: 0, "
    "modelPrices: false}";
constexpr const char* kArgsP2 =
    "{coverage: 85, popularity: sqrt, weightExponent: 3.5, "
    "multiGpu: {keepAll: false, factor: 0}, scarcity: false, conserveCpu: 0, modelPrices: false}";

constexpr const char* kArgsBoth =
    "{popularity: sqrt, weightExponent: 3.5, multiGpu: {factor: 200}, conserveCpu: 10}";

// On nodes with a model; the price, if it has one, comes last.
std::vector<std::int64_t> weights(const ClusterContext& context, const UsableGpuWeights& how,
                                  const std::string& model = "") {
  const plugins::KindsByModel kinds = usable_gpu_weights(context, how);
  std::vector<std::int64_t> found;
  for (const plugins::WeightedKind& kind : kinds.at(model)) found.push_back(kind.weight);
  return found;
}

// The definition, naively: weights in doubles with pow(), V by its sum, floor() for the key.
struct Naive {
  const ClusterContext& context;
  UsableGpuArgs args;
  std::vector<TypicalPod> pods;
  std::vector<double> raw;  // weights by pod, before normalisation

  Naive(const ClusterContext& cluster, const UsableGpuArgs& given) : context(cluster), args(given) {
    const UsableGpuWeights& how = args.weights;
    double covered = 0;
    std::vector<TypicalPod> rare;
    for (const TypicalPod& pod : context.pods) {
      const double all = static_cast<double>(context.pods_seen);
      if (covered < all * static_cast<double>(how.coverage) / 100) {
        covered += static_cast<double>(pod.count);
        pods.push_back(pod);
      } else if (how.keep_all_multi_gpu && pod.gpus >= 2) {
        rare.push_back(pod);
      }
    }
    pods.insert(pods.end(), rare.begin(), rare.end());
    for (const TypicalPod& pod : pods) raw.push_back(weight(pod, covered));
  }

  [[nodiscard]] double weight(const TypicalPod& pod, double covered) const {
    const UsableGpuWeights& how = args.weights;
    const double share = static_cast<double>(pod.count) / covered;
    double p = share;
    if (how.popularity == Popularity::kSqrt) p = std::sqrt(p);
    if (pod.gpus == 0) return p;
    const double v = static_cast<double>(pod.gpus * pod.milli) / 1'000;
    double w = p * std::pow(v, -static_cast<double>(how.half_exponents) / 2);
    if (pod.gpus >= 2 && how.multi_gpu_factor > 0) {
      w = share * static_cast<double>(how.multi_gpu_factor);
    }
    if (!how.scarcity || context.gpu_nodes.empty()) return w;
    std::int64_t large_enough = 0;
    std::int64_t could_take = 0;
    for (const auto& [node, nodes] : context.gpu_nodes) {
      if (node.gpus < pod.gpus) continue;
      large_enough += node.gpus * nodes;
      if (node.cpu < pod.cpu || node.memory < pod.memory) continue;
      could_take += node.gpus * nodes;
    }
    if (could_take == 0) return 0;
    return w * std::pow(static_cast<double>(large_enough) / static_cast<double>(could_take), 1.25);
  }

  // GPUs of nodes that `counts`.
  template <typename Counts>
  [[nodiscard]] double gpus_where(const Counts& counts) const {
    double sum = 0;
    for (const auto& [node, nodes] : context.gpu_nodes) {
      if (counts(node)) sum += static_cast<double>(node.gpus * nodes);
    }
    return sum;
  }

  // Of a GPU of that model: what is asked for of it because pods can run on few others.
  [[nodiscard]] double price(const std::string& model) const {
    if (!args.weights.model_prices) return 0;
    const auto there = [&](const auto& kind) { return kind.first.product == model; };
    if (std::none_of(context.gpu_nodes.begin(), context.gpu_nodes.end(), there)) {
      const bool named = std::any_of(pods.begin(), pods.end(), [&](const TypicalPod& pod) {
        return std::count(pod.products.begin(), pod.products.end(), model) > 0;
      });
      return named || model.empty() ? 0 : price("");
    }
    const double all = gpus_where([](const auto& /*node*/) { return true; });
    const double of_model = gpus_where([&](const auto& node) { return node.product == model; });
    double everywhere = 0;
    double here = 0;  // asked for per GPU
    for (const TypicalPod& pod : context.pods) {
      const auto enough = [&](const auto& node) { return node.gpus >= pod.gpus; };
      const auto allowed = [&](const auto& node) {
        return enough(node) && node.cpu >= pod.cpu && node.memory >= pod.memory &&
               (pod.products.empty() ||
                std::count(pod.products.begin(), pod.products.end(), node.product) > 0);
      };
      const double room = gpus_where(allowed);
      if (room == 0) continue;
      const double asked =
          static_cast<double>(pod.count) * static_cast<double>(pod.gpus * pod.milli) / 1'000;
      everywhere += asked / all;
      const double room_here =
          gpus_where([&](const auto& node) { return allowed(node) && node.product == model; });
      if (room_here == 0) continue;
      const double of = pod.products.empty() ? gpus_where(enough) : all;
      const double confined = std::min(1.0, 2 - 2 * room / of);
      const auto gpus = static_cast<double>(pod.gpus);
      here += gpus * confined * asked / room * room_here / of_model;
    }
    if (here == 0) return 0;
    const double cube = std::pow(here / everywhere, 3);
    return cube < 0.001 ? 0 : std::min(2.0, cube);
  }

  [[nodiscard]] static std::int64_t usable(const NaiveNode& node, const TypicalPod& pod) {
    std::int64_t k = 0;
    std::int64_t su = 0;
    for (const std::int64_t free : node.devices) {
      if (free < pod.milli) continue;
      ++k;
      su += free;
    }
    if (!node.allows(pod) || node.cpu < pod.cpu || node.memory < pod.memory || k < pod.gpus) {
      return 0;
    }
    const auto at_most = [&](std::int64_t there, std::int64_t each) {
      return there * pod.gpus >= each * k ? su : su * (there * pod.gpus) / (each * k);
    };
    return std::min(at_most(node.cpu, pod.cpu), at_most(node.memory, pod.memory));
  }

  [[nodiscard]] std::int64_t value(const NaiveNode& node) const {
    double all = 0;
    for (std::size_t i = 0; i < pods.size(); ++i) all += node.allows(pods[i]) ? raw[i] : 0;
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < pods.size(); ++i) {
      if (pods[i].gpus == 0 || !node.allows(pods[i]) || all == 0) continue;
      sum += std::llround(raw[i] / all * (1 << 20)) * usable(node, pods[i]);
    }
    const auto free = std::accumulate(node.devices.begin(), node.devices.end(), std::int64_t{0});
    return sum + std::llround(price(node.product) * (1 << 20)) * free;
  }

  [[nodiscard]] Scored score(const NaiveNode& node, const tests::NaivePod& pod) const {
    return tests::best_of(node, pod, [&](const NaiveNode& after) {
      const double lost = static_cast<double>(value(node) - value(after)) / (1 << 20);
      const double conserved = context.cpu_is_scarce ? static_cast<double>(args.conserve_cpu) : 0;
      const double cores = node.devices.empty() ? 0 : static_cast<double>(after.cpu) / 1'000;
      const double charged = std::floor(conserved * (1 << 20) / 1'000) / (1 << 20) * 1'000 * cores;
      const double net = static_cast<double>(pod.gpus * pod.milli) - lost - charged;
      return static_cast<std::int64_t>(std::floor(net / static_cast<double>(args.quantum))) +
             kMost / args.quantum + 1;
    });
  }
};

}  // namespace

TEST_CASE("UsableGpu keeps a pod that takes most of the memory off a node of free GPUs") {
  auto context = workload({kind(100, 8'000, 1, 1'000)});
  context.pods[0].memory = 100 * 1'024;
  const auto made = make_plugin("UsableGpu", "{}");
  constexpr std::int64_t kGiInMi = 1'024;
  const k8s::Pod large = tests::pod("a").cpu("8").gpus(1).memory("1500Gi");
  // Eight free GPUs, of which seven would be of no use; and the last one of a node.
  const Scored empty = tests::GpuNode(128'000, std::vector<std::int32_t>(8, 1'000))
                           .memory(1'600 * kGiInMi)
                           .ask(*made->score, large, context);
  const Scored last =
      tests::GpuNode(16'000, {1'000}).memory(1'500 * kGiInMi).ask(*made->score, large, context);
  CHECK(empty.score < last.score);
  // With enough memory for both both are as good.
  const Scored ample = tests::GpuNode(128'000, std::vector<std::int32_t>(8, 1'000))
                           .memory(4'000 * kGiInMi)
                           .ask(*made->score, large, context);
  CHECK(ample.score == last.score);
}

TEST_CASE("UsableGpu weighs kinds by frequency, size, number of GPUs and scarcity") {
  // A hundred pods: 20 without GPU, 40 of half a GPU, 32 of one, 8 of eight.
  const auto context = workload({kind(40, 1'000, 1, 500), kind(32, 4'000, 1, 1'000),
                                 kind(20, 1'000, 0, 0), kind(8, 64'000, 8, 1'000)});
  const auto of = [](double weight, double sum) { return std::llround(weight / sum * (1 << 20)); };
  using Weights = std::vector<std::int64_t>;
  // 90 % are covered without the last. 40/92 · 8, 32/92, 20/92.
  CHECK(weights(context, kP1) == Weights{of(320, 372), of(32, 372)});
  // The last, though rare: 30 · 8/92.
  CHECK(weights(context, kD9) == Weights{of(320, 612), of(32, 612), of(240, 612)});
  const double r = std::pow(2, 3.5) * std::sqrt(40);
  const double sum = r + std::sqrt(32) + std::sqrt(20);
  CHECK(weights(context, kP2) == Weights{of(r, sum), of(std::sqrt(32), sum)});

  UsableGpuWeights plain = kD9;  // 100/512 % of 1/8^3: by size as well
  plain.multi_gpu_factor = 0;
  CHECK(weights(context, plain) ==
        Weights{of(320, 372 + 8.0 / 512), of(32, 372 + 8.0 / 512), of(8.0 / 512, 372 + 8.0 / 512)});
}

TEST_CASE("UsableGpu weighs the kinds that may run on a model, and its price") {
  // 150 GPUs are asked for that 40 could give, 3.75 for each.
  auto context = workload({kind(30, 0, 1, 1'000, {"A"}), kind(30, 0, 1, 1'000, {"A", "B"}),
                           kind(30, 0, 1, 1'000), kind(15, 0, 2, 1'000, {"", "A", "B"}),
                           kind(15, 0, 2, 1'000, {"B"}), kind(15, 0, 2, 1'000, {"C"})});
  context.gpu_nodes = {{{.product = "", .gpus = 2}, 5},
                       {{.product = "A", .gpus = 2}, 5},
                       {{.product = "B", .gpus = 4}, 5}};
  context.gpus = 40;
  UsableGpuWeights how = kD9;
  how.multi_gpu_factor = 1;
  const auto of = [](double part) { return std::llround(part * (1 << 20)); };
  using Weights = std::vector<std::int64_t>;
  // 30 on 10 GPUs; 30 on 30, which are three quarters of all and count half.
  const double a = (3 + 0.5) / 3.75;
  CHECK(weights(context, how, "A") ==
        Weights{of(30 / 105.0), of(30 / 105.0), of(30 / 105.0), of(15 / 105.0), of(a * a * a)});
  // The second again, and pods of two GPUs that ask for 30 on 20 GPUs.
  const double b = (0.5 + 2 * 1.5) / 3.75;
  CHECK(weights(context, how, "B") ==
        Weights{of(30 / 90.0), of(30 / 90.0), of(15 / 90.0), of(15 / 90.0), of(b * b * b)});
  // Of no model that pods name, or of one that no node has: no price.
  CHECK(weights(context, how) == Weights{of(30 / 45.0), of(15 / 45.0)});
  CHECK(weights(context, how, "C") == Weights{of(30 / 45.0), of(15 / 45.0)});

  how.model_prices = false;
  CHECK(weights(context, how, "B") ==
        Weights{of(30 / 90.0), of(30 / 90.0), of(15 / 90.0), of(15 / 90.0)});
}

TEST_CASE("UsableGpu prices a model whose nodes alone are large enough for some pods") {
  // A tenth of the nodes of eight GPUs have the CPU for the second kind.
  auto context = workload({kind(90, 1'000, 1, 1'000), kind(10, 100'000, 8, 1'000)});
  context.gpu_nodes = {{{.product = "A", .gpus = 8, .cpu = 96'000}, 9},
                       {{.product = "B", .gpus = 8, .cpu = 128'000}, 1},
                       {{.product = "C", .gpus = 1, .cpu = 8'000}, 20}};
  context.gpus = 100;
  const auto price = [&] {
    const plugins::KindsByModel kinds = usable_gpu_weights(context, kD9);
    const auto found = kinds.find("B");
    return found == kinds.end() ? 0 : found->second.back().weight;
  };
  // 80 on 8 GPUs, where 170 are asked for on 100.
  CHECK(price() == 2 * plugins::kUnitWeight);
  // Few such pods: ρ = 8 · 8/8 / 9.08 = 0.88.
  context.pods[0].count = 900;
  context.pods[1].count = 1;
  const double rho = 8 / 9.08;
  CHECK(price() == std::llround(rho * rho * rho * plugins::kUnitWeight));
  // Nodes with as much CPU: no node is special.
  context.gpu_nodes = {{{.product = "A", .gpus = 8, .cpu = 128'000}, 9},
                       {{.product = "B", .gpus = 8, .cpu = 128'000}, 1},
                       {{.product = "C", .gpus = 1, .cpu = 8'000}, 20}};
  CHECK(usable_gpu_weights(context, kD9).count("B") == 0);
}

TEST_CASE("the only model with enough GPUs has a price by those who name it") {
  const auto price = [](std::vector<std::string> products) {
    auto context = workload({kind(9, 1'000, 1, 1'000), kind(1, 1'000, 8, 1'000, products)});
    context.gpu_nodes = {{{.product = "A", .gpus = 8, .cpu = 64'000}, 10},
                         {{.product = "T", .gpus = 4, .cpu = 64'000}, 20}};
    context.gpus = 160;
    const plugins::KindsByModel kinds = usable_gpu_weights(context, kD9);
    return kinds.count("A") == 0 ? 0 : kinds.at("A").back().weight;
  };
  // 8 · 8/80 where 17/160 are asked for of each.
  CHECK(price({"A"}) == 2 * plugins::kUnitWeight);
  CHECK(price({}) == 0);
}

TEST_CASE("nodes whose labels name no model have a price of their own") {
  // Only they have the CPU for pods of eight.
  auto context = workload({kind(9, 1'000, 1, 1'000), kind(1, 128'000, 8, 1'000)});
  context.gpu_nodes = {{{.product = "", .gpus = 8, .cpu = 192'000}, 10},
                       {{.product = "B", .gpus = 8, .cpu = 96'000}, 10}};
  context.gpus = 160;
  const double rho = 8 * (8 / 80.0) / (17 / 160.0);
  REQUIRE(rho * rho * rho > 2);
  const plugins::KindsByModel kinds = usable_gpu_weights(context, kD9);
  CHECK(kinds.at("").back().weight == 2 * plugins::kUnitWeight);
  CHECK(kinds.at("").size() == 3);
  CHECK(kinds.at("B").size() == 2);
}

TEST_CASE("a pod that names no model leaves those alone that others need") {
  // Half of the pods name model A, which a third of the GPUs are of.
  auto context = workload({kind(50, 1'000, 1, 1'000), kind(50, 1'000, 1, 1'000, {"A"})});
  context.gpu_nodes = {{{.product = "A", .gpus = 8, .cpu = 64'000, .memory = 1'024}, 1},
                       {{.product = "B", .gpus = 8, .cpu = 64'000, .memory = 1'024}, 2}};
  context.gpus = 24;
  const auto score = [&](const char* args, const char* product, const char* plugin = "UsableGpu") {
    const auto made = make_plugin(plugin, args);
    REQUIRE(made);
    return tests::GpuNode(64'000, std::vector<std::int32_t>(8, 1'000))
        .product(product)
        .ask(*made->score, gpu_pod(1'000, 1), context)
        .score;
  };
  // ρ = 1.5: 50 are asked for on 8 GPUs, and 100 on 24. 1.5^3 is more than 2: two GPUs, of a
  // thousand thousandths, in steps of 50.
  CHECK(score("", "B") - score("", "A") == 2 * 1'000 / 50);
  CHECK(score("modelPrices: false", "B") == score("modelPrices: false", "A"));
  CHECK(score("", "B", "GpuPacking") - score("", "A", "GpuPacking") == 2 * 1'000 / 50);
  CHECK(score("modelPrices: false", "B", "GpuPacking") ==
        score("modelPrices: false", "A", "GpuPacking"));
}

TEST_CASE("UsableGpu counts kinds more that only few nodes are large enough for") {
  // Of the nodes with eight GPUs a quarter has the CPU and the memory that the second kind needs.
  auto context =
      workload({kind(1, 90'000, 8, 1'000), kind(1, 120'000, 8, 1'000), kind(1, 4'000, 1, 1'000)});
  context.pods[1].memory = 600 * 1'024;
  constexpr std::int64_t kGib = 1'024;
  context.gpu_nodes = {{{.product = "", .gpus = 8, .cpu = 96'000, .memory = 384 * kGib}, 2},
                       {{.product = "", .gpus = 8, .cpu = 128'000, .memory = 384 * kGib}, 1},
                       {{.product = "", .gpus = 8, .cpu = 128'000, .memory = 768 * kGib}, 1},
                       {{.product = "", .gpus = 1, .cpu = 3'000, .memory = 8 * kGib}, 32}};
  context.gpus = 64;
  UsableGpuWeights how = kD9;
  how.multi_gpu_factor = 1;
  how.model_prices = false;
  const double eight = std::pow(4, 1.25);
  const double one = std::pow(2, 1.25);
  const auto of = [&](double part) { return std::llround(part / (1 + eight + one) * (1 << 20)); };
  CHECK(weights(context, how) == std::vector<std::int64_t>{of(1), of(eight), of(one)});
}

TEST_CASE("UsableGpu prefers what leaves free GPUs usable") {
  // One kind: half a GPU and 4 CPUs, so W = 2^20 and V = U.
  const auto context = workload({kind(1, 4'000, 1, 500)});
  constexpr std::int64_t kZero = kMost / 50 + 1;  // the score of key 0
  struct Case {
    const char* name;
    k8s::Pod given;
    tests::GpuNode node;
    Scored want;
  };
  const std::vector<Case> cases = {
      // U: 1,000 → 500.
      {"takes what it uses", share_pod(4'000, 500), {64'000, {1'000}}, {kZero, 0}},
      // U: 1,000 → 0: 600 asked, 400 lost besides.
      {"leaves a sliver", share_pod(4'000, 600), {64'000, {1'000}}, {kZero - 8, 0}},
      // U: 1,700 → 1,000 on the second, → 1,100 on the first.
      {"takes the device that is better",
       share_pod(0, 600),
       {64'000, {1'000, 700}},
       {kZero - 2, 1}},
      {"takes a sliver", share_pod(0, 300), {64'000, {1'000, 300, 300}}, {kZero + 6, 1}},
      // k = 2, c = 4: U = 2,000 · 4 / 8 = 1,000; then 1,000 · 1 with one device.
      {"takes GPU that no CPU is left for",
       gpu_pod(0, 1),
       {4'000, {1'000, 1'000}},
       {kZero + 20, -1}},
      // U: 2,000 → 2,000 · 6 / 8 = 1,500.
      {"takes CPU", cpu_pod(10'000), {16'000, {1'000, 1'000}}, {kZero - 10, -1}},
      {"takes CPU to spare", cpu_pod(2'000), {16'000, {1'000, 1'000}}, {kZero, -1}},
      {"a node without GPU", cpu_pod(2'000), {16'000, {}}, {kZero, -1}},
      // U: 500 → 0: 20 asked, 480 lost besides, nine quanta and a part.
      {"rounds down", share_pod(0, 20), {16'000, {500}}, {kZero - 10, 0}},
      {"a MIG instance",
       tests::pod("a").requests("nvidia.com/mig-3g.40gb", "1"),
       {16'000, {1'000}},
       {-1, -1}},
  };
  const auto made = make_plugin("UsableGpu");
  REQUIRE(made);
  CHECK(made->score->reads_statistics());
  CHECK(made->score->normalisation() == sched::Normalisation::kNone);
  CHECK(made->score->max_score() == 3 * kZero);
  for (const Case& each : cases) {
    INFO(each.name);
    CHECK(each.node.ask(*made->score, each.given, context) == each.want);
  }
  CHECK(tests::GpuNode(8'000, {1'000}).ask(*made->score, gpu_pod(0, 1)) == Scored{-1, -1});
}

TEST_CASE("UsableGpu keeps CPU of nodes with GPUs together while it is scarce") {
  auto context = workload({kind(1, 1'000, 1, 500)});
  const auto difference = [&](const char* args, const char* plugin = "UsableGpu") {
    const auto made = make_plugin(plugin, args);
    REQUIRE(made);
    // The GPU stays as usable on either; five cores are left on one, 55 on the other.
    const auto ask = [&](std::int64_t cpu) {
      return tests::GpuNode(cpu, {1'000}).ask(*made->score, share_pod(1'000, 500), context).score;
    };
    return ask(6'000) - ask(56'000);
  };
  context.cpu_is_scarce = true;
  CHECK(difference("conserveCpu: 10") == 10);  // quanta of 50 milli-GPU
  CHECK(difference("conserveCpu: 5") == 5);
  CHECK(difference("") == 8);
  CHECK(difference("conserveCpu: 0") == 0);
  CHECK(difference("conserveCpu: 10", "GpuPacking") == 10);
  CHECK(difference("", "GpuPacking") == 8);
  // Free CPU of a node without GPUs costs nothing; of one with GPUs of any kind it does.
  const auto made = make_plugin("UsableGpu");
  REQUIRE(made);
  sched::ResourceNames names;
  const auto of_counted = [&](const k8s::Pod& pod, const k8s::Node& node) {
    const auto score = made->score->prepare(
        sched::shape_of(pod, names),
        {.resources = names, .cluster = std::make_shared<const ClusterContext>(context)});
    REQUIRE(score);
    return score->score({sched::facts_of(node, names), {}});
  };
  const auto on = [&](const tests::NodeBuilder& like, const k8s::Pod& pod) {
    tests::NodeBuilder small = like;
    tests::NodeBuilder large = like;
    return of_counted(pod, small.cpu("6")) - of_counted(pod, large.cpu("56"));
  };
  const k8s::Pod plain = tests::pod("p").cpu("1");
  CHECK(on(tests::node("n"), plain) == 0);
  CHECK(on(tests::node("n").gpus(4), tests::pod("p").cpu("1").gpus(1)) == 8);
  CHECK(on(tests::node("n").gpus(4), plain) == 8);
  CHECK(on(tests::node("n").offers("nvidia.com/mig-1g.5gb", "7"), plain) == 8);
  CHECK(on(tests::node("n").offers("nvidia.com/gpu.shared", "8"), plain) == 8);
  context.cpu_is_scarce = false;
  CHECK(difference("conserveCpu: 10") == 0);
  CHECK(on(tests::node("n").gpus(4), plain) == 0);
}

TEST_CASE("UsableGpu sees counted GPUs as free and taken devices") {
  const auto made = make_plugin("UsableGpu");
  REQUIRE(made);
  const auto context = std::make_shared<const ClusterContext>(workload({kind(1, 1'000, 2, 1'000)}));
  sched::ResourceNames names;
  const auto score = made->score->prepare(sched::shape_of(tests::pod("a").gpus(1), names),
                                          {.resources = names, .cluster = context});
  REQUIRE(score);
  const auto ask = [&](std::int64_t taken) {
    const sched::NodeFacts facts = sched::facts_of(tests::node("n").gpus(4), names);
    sched::NodeUsage usage;
    usage.requested.set(sched::kNvidiaGpu, taken);
    return score->score({facts, usage});
  };
  // Two are of use together only: 1,000 asked, 2,000 lost where two are left.
  CHECK(ask(0) - ask(2) == 1'000 / 50);
  CHECK(ask(3) - ask(0) == 1'000 / 50);
}

TEST_CASE("UsableGpu gives what its definition gives, on random nodes, pods and workloads") {
  struct Setting {
    const char* args;
    UsableGpuArgs want;
  };
  const std::vector<Setting> settings = {{"", {kD9, 50, 8}},
                                         {kArgsP1, {kP1, 100, 0}},
                                         {kArgsP2, {kP2, 50, 0}},
                                         {kArgsBoth, {kBoth, 50, 10}}};
  for (const Setting& setting : settings) {
    const auto made = make_plugin("UsableGpu", setting.args);
    REQUIRE(made);
    tests::RandomGpus random(23);
    for (int round = 0; round < 30; ++round) {
      ClusterContext context = random.workload();
      context.cpu_is_scarce = round % 2 == 1;
      const Naive naive(context, setting.want);
      for (int i = 0; i < 40; ++i) {
        const NaiveNode node = random.node();
        const tests::NaivePod pod = random.pod_for(node);
        INFO(setting.args << ": " << node << ", " << pod);
        CHECK(node.ask(*made->score, pod, context) == naive.score(node, pod));
      }
    }
  }
}

TEST_CASE("UsableGpu complains of arguments that mean nothing") {
  for (const char* args :
       {"coverage: 0", "coverage: 101", "popularity: cubic", "weightExponent: 3.3",
        "weightExponent: -1", "quantum: 0", "quantum: 8001", "conserveCpu: -1", "conserveCpu: 101",
        "multiGpu: {factor: -1}", "multiGpu: 3", "scarcity: 2", "modelPrices: 2", "size: 3",
        "kind: FgdArgs"}) {
    INFO(args);
    CHECK_FALSE(make_plugin("UsableGpu", args));
  }
  CHECK(make_plugin("UsableGpu", "{kind: UsableGpuArgs, weightExponent: 8, coverage: 100}"));
  CHECK(make_plugin("UsableGpu", "quantum: 8000"));
}
