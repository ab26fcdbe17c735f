// Replays of small clusters, with every step known beforehand.
#include "bench/replay/run/run.h"

#include "bench/policies/registry.h"
#include "tests/bench/replay/small_cluster.h"
#include "tests/support/catch.h"
#include "tests/support/gpu_quotas.h"

#include <fmt/format.h>

#include <sstream>
#include <string>
#include <vector>

using bench::replay::Arrival;
using bench::replay::Moment;
using bench::replay::Policy;
using bench::replay::Result;
using bench::replay::RunOptions;
using bench::replay::Step;
using bench::replay::Trace;
using bench::replay::WhenFull;
using bench::replay::Workload;
using std::chrono::seconds;
using tests::gpu_node;
using tests::gpu_pod;
using tests::share_pod;

namespace {

Result run(const Trace& trace, const Workload& workload, const RunOptions& options = {},
           const Policy& policy = tests::packing()) {
  const auto result = bench::replay::run(trace, workload, policy, bench::registry(), options);
  if (!result) FAIL(result.error().message);
  return *result;
}

std::string steps_of(const Result& result) {
  std::ostringstream text;
  for (const Step& step : result.steps) {
    text << step.x << ": " << step.allocated << " allocated, " << step.refused << " refused; ";
  }
  return text.str();
}

}  // namespace

TEST_CASE("pods come until the cluster is full, and those that do not fit are turned away") {
  const Trace trace = tests::trace_of({gpu_node("n1", 2), gpu_node("n2", 2)},
                                      {gpu_pod("a", 1), share_pod("b", 600), gpu_pod("c", 2),
                                       gpu_pod("d", 2), share_pod("e", 400)});
  const Result result = run(trace, tests::one_by_one(trace), {.snapshots_at = {150}});
  CHECK_FALSE(result.over_time);
  CHECK(result.policy == "packing");
  CHECK(result.tie_break == "first-node");
  CHECK(result.trace == "small");
  // 1, 1.6, 3.6, 5.6 and 6 of 4 GPUs have come; the steps between are their neighbours'.
  CHECK(steps_of(result) ==
        "25: 25 allocated, 0 refused; 26: 25 allocated, 0 refused; "
        "39: 40 allocated, 0 refused; 40: 40 allocated, 0 refused; 41: 40 allocated, 0 refused; "
        "89: 90 allocated, 0 refused; 90: 90 allocated, 0 refused; 91: 90 allocated, 0 refused; "
        "139: 90 allocated, 35.7143 refused; 140: 90 allocated, 35.7143 refused; "
        "141: 90 allocated, 35.7143 refused; 149: 100 allocated, 33.3333 refused; "
        "150: 100 allocated, 33.3333 refused; ");
  CHECK(result.figures.at("unallocated") == Approx(0).margin(1e-9));
  CHECK(result.figures.at("refused_pods") == 1);
  CHECK(result.figures.at("placed_pods") == 4);
  CHECK(result.figures.at("arrived") == Approx(150));
  CHECK(result.decisions == 5);
  REQUIRE(result.refused.size() == 1);
  CHECK(result.refused[0].example == "default/d");
  CHECK(result.refused[0].kind == "2 GPU, 1 CPU, 0Gi");
  CHECK_THAT(result.refused[0].message, Catch::Contains("0/2 nodes are available"));
  REQUIRE(result.snapshots.size() == 1);
  for (const auto& node : result.snapshots[0].nodes) {
    CHECK(node.devices == std::vector<std::int32_t>{1'000, 1'000});
  }
}

TEST_CASE("a pod of the trace may come several times") {
  const Trace trace = tests::trace_of({gpu_node("n", 3)}, {gpu_pod("a", 1)});
  Workload workload;
  for (int i = 0; i < 4; ++i)
    workload.arrivals.push_back({.pod = 0, .at = seconds(i), .leaves = {}});
  std::ostringstream log;
  const Result result = run(trace, workload, {.decisions = &log});
  CHECK(result.figures.at("placed_pods") == 3);
  CHECK(result.figures.at("refused_pods") == 1);
  CHECK_THAT(log.str(), Catch::Contains("default/a\"") && Catch::Contains("default/a.1\"") &&
                            Catch::Contains("default/a.3\""));
}

TEST_CASE("who waits lives from when it is placed") {
  const Trace trace = tests::trace_of({gpu_node("n", 1)}, {gpu_pod("a", 1), gpu_pod("b", 1)});
  Workload workload;
  workload.arrivals = {{.pod = 0, .at = seconds(0), .leaves = seconds(10)},
                       {.pod = 1, .at = seconds(4), .leaves = seconds(14)}};
  SECTION("in the queue") {
    const Result result = run(trace, workload, {.when_full = WhenFull::kQueue});
    CHECK(result.over_time);
    CHECK(result.waits == std::vector<double>{0, 6});
    CHECK(result.figures.at("gpu_hours_waited") == Approx(6.0 / 3'600));
    CHECK(result.figures.at("gpu_waiting") == Approx(30));  // of one GPU and 20 seconds
    CHECK(result.figures.at("hours") == Approx(20.0 / 3'600));
    REQUIRE(result.waits_by_size.size() == 1);
    CHECK(result.waits_by_size[0].size == "1 GPU");
    CHECK(result.waits_by_size[0].pods == 2);
    CHECK(result.waits_by_size[0].gpu_hours == Approx(6.0 / 3'600));
    CHECK(result.waits_by_size[0].p99 == 6);
    CHECK(result.figures.at("allocated") == Approx(100));  // 20 seconds
    CHECK(result.figures.at("refused_pods") == 0);
    CHECK(result.figures.at("placed_pods") == 2);
  }
  SECTION("turned away it never lives") {
    workload.ends = seconds(20);
    const Result result = run(trace, workload);
    CHECK(result.waits == std::vector<double>{0});
    CHECK(result.figures.at("gpu_hours_waited") == 0);
    CHECK(result.figures.at("allocated") == Approx(50));
    CHECK(result.figures.at("refused") == Approx(50));
  }
  SECTION("until says when to end") {
    const Result result =
        run(trace, workload, {.when_full = WhenFull::kQueue, .until = seconds(8)});
    CHECK(result.figures.at("waiting_pods") == 1);
    CHECK(result.figures.at("waiting") == Approx(50));
    CHECK(result.figures.at("allocated") == Approx(100));
    // Who still waits counts with its wait so far.
    CHECK(result.waits == std::vector<double>{0, 4});
    CHECK(result.figures.at("wait_max") == 4);
    CHECK(result.figures.at("gpu_hours_waited") == Approx(4.0 / 3'600));
    CHECK(result.by_namespace.at("default").waited == Approx(2));
    REQUIRE(result.refused.size() == 1);
    CHECK_THAT(result.refused[0].message, Catch::Contains("0/1 nodes are available"));
  }
}

TEST_CASE("GPU quotas limit the namespaces of the pods, and their use is written down") {
  const Trace trace = tests::trace_of({gpu_node("n", 4)}, {gpu_pod("a", 2).in_namespace("vision"),
                                                           gpu_pod("b", 1).in_namespace("vision"),
                                                           gpu_pod("c", 1).in_namespace("vision")});
  Workload workload;
  for (std::size_t i = 0; i < 3; ++i) {
    workload.arrivals.push_back({.pod = i, .at = seconds(0), .leaves = seconds(3'600)});
  }
  const std::vector<k8s::GpuQuota> quotas{
      tests::gpu_quota("vision")
          .selects(tests::selector({{"kubernetes.io/metadata.name", "vision"}}))
          .in_cohort("all")
          .line("*", 2),
      tests::gpu_quota("lender").in_cohort("all").line("*", 1)};
  const Result result = run(trace, workload, {.when_full = WhenFull::kQueue, .quotas = &quotas});
  CHECK(result.waits == std::vector<double>{0, 0, 3'600});
  CHECK(result.by_namespace.at("vision").waited == Approx(1'200));
  std::string of_vision;
  for (const auto& step : result.quota_steps) {
    if (step.quota == "lender") continue;
    of_vision += fmt::format("{:g}h: {} used, {} borrowed, {} pending; ", step.x, step.used,
                             step.borrowed, step.pending);
  }
  CHECK(of_vision ==
        "0h: 3 used, 1 borrowed, 1 pending; 0.166667h: 3 used, 1 borrowed, 1 pending; "
        "1h: 1 used, 0 borrowed, 0 pending; 2h: 0 used, 0 borrowed, 0 pending; ");
}

TEST_CASE("what holds of quotas for a long time is written down") {
  const Trace trace = tests::trace_of(
      {gpu_node("n", 4)}, {gpu_pod("a", 1).in_namespace("v"), gpu_pod("b", 2).in_namespace("v")});
  Workload workload;
  workload.arrivals = {{.pod = 0, .at = seconds(0), .leaves = seconds(36'000)},
                       {.pod = 1, .at = seconds(60), .leaves = seconds(36'000)}};
  const std::vector<k8s::GpuQuota> quotas{tests::gpu_quota("v").of("v").line("*", 4)};
  const Result result = run(trace, workload, {.when_full = WhenFull::kQueue, .quotas = &quotas});
  std::string used;
  for (const auto& step : result.quota_steps)
    used += fmt::format("{:.2f}h {:g}; ", step.x, step.used);
  CHECK(used == "0.00h 1; 0.02h 3; 10.00h 0; ");
}

TEST_CASE("time that is given passes as a whole, time that is only allowed does not") {
  const Trace trace = tests::trace_of({gpu_node("n", 1)}, {gpu_pod("a", 1)});
  Workload workload;
  workload.arrivals = {{.pod = 0, .at = seconds(0), .leaves = seconds(10)}};
  CHECK(run(trace, workload, {.until = seconds(40)}).figures.at("allocated") == Approx(100));
  workload.ends = seconds(40);
  CHECK(run(trace, workload).figures.at("allocated") == Approx(25));
  CHECK(run(trace, workload, {.until = seconds(20)}).figures.at("allocated") == Approx(50));
  workload.measure_from = seconds(30);
  CHECK(run(trace, workload).figures.at("allocated") == Approx(0).margin(1e-9));
  const auto nothing = bench::replay::run(trace, workload, tests::packing(), bench::registry(),
                                          {.until = seconds(30)});
  REQUIRE_FALSE(nothing);
  CHECK_THAT(nothing.error().message, Catch::Contains("nothing to measure"));
}

TEST_CASE("of a backlog the queue says whose turn it is") {
  const Trace trace =
      tests::trace_of({gpu_node("n", 1)}, {gpu_pod("low", 1), gpu_pod("high", 1).priority(10)});
  Workload workload;
  workload.arrivals = {{.pod = 0, .at = seconds(0), .leaves = {}},
                       {.pod = 1, .at = seconds(0), .leaves = {}}};
  std::ostringstream log;
  (void)run(trace, workload, {.when_full = WhenFull::kQueue, .decisions = &log});
  CHECK_THAT(log.str(),
             Catch::Contains(R"("pod":"default/high","asks":"1 GPU, 1 CPU, 0Gi","node":"n")"));
  CHECK_THAT(log.str(),
             Catch::Contains(R"("pod":"default/low","asks":"1 GPU, 1 CPU, 0Gi","node":null)"));
}

TEST_CASE("pods that have their nodes to start with hold them") {
  Trace trace = tests::trace_of({gpu_node("n1", 1), gpu_node("n2", 1)},
                                {gpu_pod("old", 1).on("n1"), gpu_pod("new", 1)});
  trace.pods[0].bound_to_start_with = true;
  Workload workload;
  workload.arrivals = {{.pod = 1, .at = seconds(0), .leaves = {}}};
  const Result result = run(trace, workload, {.snapshots_at = {100}});
  CHECK(result.figures.at("unallocated") == Approx(0).margin(1e-9));
  CHECK(result.figures.at("refused_pods") == 0);
}

TEST_CASE("a pod that nobody decides on is turned away all the same") {
  const Trace trace =
      tests::trace_of({gpu_node("n", 1)}, {gpu_pod("gated", 1).gated("example.com/hold")});
  const Result result = run(trace, tests::one_by_one(trace));
  REQUIRE(result.refused.size() == 1);
  CHECK_THAT(result.refused[0].message, Catch::Contains("never decided on"));
}

TEST_CASE("where GPUs are only counted the sums are the same") {
  Trace trace = tests::trace_of({tests::node("n1").gpus(2), tests::node("n2").gpus(2)},
                                {gpu_pod("a", 1), gpu_pod("b", 2), gpu_pod("c", 2)});
  trace.devices_apart = false;
  const Result result = run(trace, tests::one_by_one(trace), {.snapshots_at = {75}});
  CHECK(result.figures.at("unallocated") == Approx(25));
  REQUIRE(result.snapshots.size() == 1);
  CHECK(result.snapshots[0].nodes[0].devices == std::vector<std::int32_t>{1'000, 0});
  CHECK(result.snapshots[0].nodes[1].devices == std::vector<std::int32_t>{1'000, 1'000});
}

TEST_CASE("a decision is written down with the nodes that came into question") {
  const Trace trace =
      tests::trace_of({gpu_node("n1", 2), gpu_node("n2", 2)}, {gpu_pod("a", 1), gpu_pod("b", 1)});
  std::ostringstream log;
  (void)run(trace, tests::one_by_one(trace), {.seed = 7, .decisions = &log});
  std::istringstream lines(log.str());
  std::string first;
  std::string second;
  std::getline(lines, first);
  std::getline(lines, second);
  CHECK_THAT(first, Catch::StartsWith(R"({"trace":"small","policy":"packing","seed":7,"time":0.0,)"
                                      R"("pod":"default/a","asks":"1 GPU, 1 CPU, 0Gi","node":"n1",)"
                                      R"("devices":[{"device":0,"milli":1000}],)"));
  // Judged as the nodes were before it took its place: n1 is as good as n2.
  CHECK_THAT(first,
             Catch::Contains(R"("feasible":2,"nodes":2,"candidates":[{"node":"n1","score":6)"));
  CHECK_THAT(first, Catch::Contains(R"({"node":"n2","score":6)"));
}

TEST_CASE("the same arguments give the same result") {
  std::vector<k8s::Pod> pods;
  for (int i = 0; i < 60; ++i) {
    const std::string name = "p" + std::to_string(i);
    pods.push_back(i % 3 == 0 ? gpu_pod(name, 1 + i % 4) : share_pod(name, 100 + 37 * (i % 20)));
  }
  const Trace trace =
      tests::trace_of({gpu_node("n1", 4), gpu_node("n2", 8), gpu_node("n3", 4)}, pods);
  const auto workload = bench::replay::arrange(trace, bench::replay::InflateArrival{130}, 5);
  REQUIRE(workload);
  std::ostringstream log;
  std::ostringstream again_log;
  const Result once = run(trace, *workload, {.decisions = &log});
  const Result again = run(trace, *workload, {.decisions = &again_log});
  CHECK(log.str() == again_log.str());
  CHECK(once.figures == again.figures);
  CHECK(steps_of(once) == steps_of(again));
}

TEST_CASE("a run that is stopped says so") {
  const Trace trace = tests::trace_of({gpu_node("n", 1)}, {gpu_pod("a", 1)});
  const std::atomic<bool> stop{true};
  CHECK(run(trace, tests::one_by_one(trace), {.stop = &stop}).interrupted);
}
