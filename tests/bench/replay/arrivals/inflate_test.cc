#include "bench/replay/arrivals/arrivals.h"
#include "bench/replay/arrivals/pod_pool.h"
#include "bench/replay/trace/read.h"
#include "tests/bench/replay/arrivals/small_trace.h"
#include "tests/bench/replay/trace/trace_files.h"
#include "tests/support/catch.h"
#include "tests/support/full.h"

#include <algorithm>
#include <map>

namespace bench::replay {
namespace {

using Order = std::vector<std::size_t>;

Order order_of(const Trace& trace, double percent, std::uint64_t seed) {
  const auto workload = arrange(trace, InflateArrival{percent}, seed);
  REQUIRE(workload);
  Order order;
  for (std::size_t i = 0; i < workload->arrivals.size(); ++i) {
    const Arrival& arrival = workload->arrivals[i];
    CHECK(arrival.at == std::chrono::seconds(i));
    CHECK_FALSE(arrival.leaves);
    order.push_back(arrival.pod);
  }
  return order;
}

double percent_of(const Trace& trace, const Order& order) {
  const auto pool = pool_of(trace);
  REQUIRE(pool);
  return 100.0 * static_cast<double>(pool->milli(order)) /
         static_cast<double>(pool->capacity_milli);
}

std::map<std::size_t, std::size_t> times_of(const Order& order) {
  std::map<std::size_t, std::size_t> times;
  for (const std::size_t pod : order) ++times[pod];
  return times;
}

TEST_CASE("the whole trace comes first, shuffled, and draws from it follow") {
  const Trace trace = small_trace(100, 300);  // 1.36 × 300 of 800 GPUs: 51 %
  const Order order = order_of(trace, 130, 42);
  REQUIRE(order.size() > 300);
  const Order first(order.begin(), order.begin() + 300);
  const auto times = times_of(first);
  CHECK(times.size() == 300);
  CHECK_FALSE(std::is_sorted(first.begin(), first.end()));
  // A draw that would lead beyond 130 % ended it; it asks for one GPU at the most when counted by
  // device, so that the total is at most one below. An eight-GPU pod may have led seven beyond.
  CHECK(percent_of(trace, order) > 130 - 100.0 / 800);
  CHECK(percent_of(trace, order) <= 130 + 700.0 / 800);
}

TEST_CASE("the order depends on the seed and the names alone") {
  Trace trace = small_trace(20, 200);
  const Order order = order_of(trace, 200, 42);
  CHECK(order == order_of(trace, 200, 42));
  CHECK(order != order_of(trace, 200, 43));

  Trace turned = trace;
  std::reverse(turned.pods.begin(), turned.pods.end());
  Order same = order_of(turned, 200, 42);
  for (std::size_t& pod : same) pod = trace.pods.size() - 1 - pod;
  CHECK(same == order);
}

TEST_CASE("a trace that asks for too much loses pods, and keeps the order of the others") {
  const Trace trace = small_trace(10, 300);  // 510 %
  const Order full = order_of(trace, 600, 7);
  const Order cut = order_of(trace, 130, 7);
  CHECK(percent_of(trace, cut) <= 130);
  CHECK(percent_of(trace, cut) > 130 - 800.0 / 80);  // the last one removed had eight at the most
  CHECK(times_of(cut).size() == cut.size());
  Order kept;
  for (std::size_t i = 0; i < 300; ++i) {
    if (std::find(cut.begin(), cut.end(), full[i]) != cut.end()) kept.push_back(full[i]);
  }
  CHECK(kept == cut);
}

TEST_CASE("every pod is as likely to be drawn as any other") {
  const Trace trace = small_trace(1'000, 100);
  std::map<std::size_t, std::size_t> times;
  std::size_t draws = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Order order = order_of(trace, 130, seed);
    for (std::size_t i = 100; i < order.size(); ++i) ++times[order[i]];
    draws += order.size() - 100;
  }
  REQUIRE(draws > 50'000);
  // Chi-square with 99 degrees of freedom: above 160 once in ten thousand.
  const double expected = static_cast<double>(draws) / 100;
  double chi_square = 0;
  for (const auto& [pod, seen] : times) {
    const double off = static_cast<double>(seen) - expected;
    chi_square += off * off / expected;
  }
  CHECK(times.size() == 100);
  CHECK(chi_square < 160);
}

TEST_CASE("pods that have their node to start with do not arrive") {
  Trace trace = small_trace(10, 20);
  trace.pods[3].bound_to_start_with = true;
  CHECK(times_of(order_of(trace, 300, 1)).count(3) == 0);
}

TEST_CASE("a trace that can never reach a percentage is refused") {
  Trace no_gpus = small_trace(0, 10);
  no_gpus.nodes.push_back(tests::node("cpu"));
  const auto nowhere = arrange(no_gpus, InflateArrival{130}, 1);
  REQUIRE_FALSE(nowhere);
  CHECK(nowhere.error().message ==
        "the nodes of trace \"small\" have no nvidia.com/gpu: a percentage of their GPUs means "
        "nothing");
  const auto nothing = arrange(small_trace(1, 2), InflateArrival{130}, 1);
  REQUIRE_FALSE(nothing);
  CHECK(nothing.error().message ==
        "no arriving pod of trace \"small\" asks for a GPU or a share of one: no load can be drawn "
        "from it");
}

TEST_CASE("a trace of which no memory holds enough draws is refused") {
  // One pod in three asks for a thousandth of one of 8,000 GPUs.
  Trace rare = small_trace(1'000, 2);
  rare.pods.push_back(lived(asks_milli("rare", "1"), std::nullopt, std::nullopt));
  const auto endless = arrange(rare, InflateArrival{300}, 1);
  REQUIRE_FALSE(endless);
  CHECK(
      endless.error().message ==
      "300 % of the GPUs of trace \"small\" are asked for by 72 million of its pods, since few of "
      "them ask for GPUs: lower the percentage");
  CHECK(arrange(rare, InflateArrival{1}, 1));
}

TEST_CASE("the published traces are inflated to 130 %") {
  const auto folder = openb_folder();
  if (!folder) return;
  const std::vector<std::string> variants = {"default", "gpushare100", "multigpu30", "multigpu50"};
  for (std::size_t i = 0; i < variants.size(); i += tests::every(3)) {
    const std::string& variant = variants[i];
    DYNAMIC_SECTION(variant) {
      const auto trace = read_trace({.nodes = *folder + "openb_node_list_gpu_node.csv",
                                     .pods = *folder + "openb_pod_list_" + variant + ".csv"});
      REQUIRE(trace);
      const Order order = order_of(*trace, 130, 42);
      const double percent = percent_of(*trace, order);
      CHECK(percent > 129.8);
      CHECK(percent < 130.2);
    }
  }
}

}  // namespace
}  // namespace bench::replay
