#include "bench/replay/report/verdict.h"

#include "tests/support/catch.h"

#include <map>
#include <string>
#include <vector>

namespace bench::replay {
namespace {

using Figures = std::map<std::string, double>;

Result run_with(const std::string& policy, std::uint64_t seed, Figures figures) {
  Result run;
  run.trace = "t";
  run.policy = policy;
  run.arrival = "stationary:95";
  run.seed = seed;
  run.figures = std::move(figures);
  return run;
}

Figures waited(double gpu_hours, double p99 = 50400) {
  return {
      {"gpu_hours_waited", gpu_hours}, {"wait_p99", p99}, {"unallocated", 30 - gpu_hours / 1e4}};
}

Figures refused(double unallocated) { return {{"unallocated", unallocated}, {"refused_pods", 7}}; }

std::string verdict_on(const std::vector<Result>& results) {
  const std::vector<Trace> traces;
  return verdict(comparisons(Report{"", "", traces, results}));
}

// Of each trace a run of "fgd" and one of "spread" with those unallocated shares.
std::vector<Result> on_traces(const std::vector<std::pair<double, double>>& unallocated) {
  std::vector<Result> results;
  for (std::size_t i = 0; i < unallocated.size(); ++i) {
    results.push_back(run_with("fgd", 1, refused(unallocated[i].first)));
    results.push_back(run_with("spread", 1, refused(unallocated[i].second)));
    results[2 * i].trace = results[2 * i + 1].trace = "t" + std::to_string(i);
  }
  return results;
}

TEST_CASE("the verdict names who did best, by the figure that counts") {
  struct Case {
    std::string name;
    std::vector<Result> results;
    std::string want;
  };
  const std::string chance = " Only one seed was run: the difference may be chance.";
  const std::vector<Case> cases{
      {"nothing was run", {}, ""},
      {"one policy, pods wait",
       {run_with("default", 1, waited(11228))},
       "On the trace “t” pods waited for GPUs under the default policy: 11,228 GPU-hours, and 99 "
       "of "
       "100 pods waited 14 hours at most."},
      {"one policy, pods are refused",
       {run_with("fgd", 1, refused(4.7))},
       "On the trace “t” fragmentation gradient descent left 4.70 % of the GPUs unallocated."},
      {"pods wait: unallocated GPU does not count",
       {run_with("default", 1, waited(18431, 109769)), run_with("best_fit", 1, waited(11228))},
       "On the trace “t” best fit kept GPUs waiting least: 11,228 GPU-hours, and 99 of 100 pods "
       "waited "
       "14 hours at most. Then: the default policy 18,431 (1.3 days)." +
           chance},
      {"pods wait, and the first ones are equal",
       {run_with("a", 1, waited(20)), run_with("b", 1, waited(10)), run_with("c", 1, waited(10))},
       "On the trace “t” b and c kept GPUs waiting least, without a clear difference between them: "
       "GPU-hours, and the wait of 99 of 100 pods at most: b 10 (14 hours), c 10 (14 hours). Then: "
       "a "
       "20 (14 hours)." +
           chance},
      {"pods are refused",
       {run_with("fgd", 1, refused(4.7)), run_with("usable_gpu", 1, refused(3.85))},
       "On the trace “t” usable GPU left the least GPU unallocated: 3.85 %. Then: fragmentation "
       "gradient descent 4.70 %." +
           chance},
      {"equal as printed",
       {run_with("a", 1, refused(3.851)), run_with("b", 1, refused(3.849))},
       "On the trace “t” there is no clear difference between b and a: b 3.85 %, a 3.85 %." +
           chance},
      {"within the spread over seeds",
       {run_with("a", 1, refused(3)), run_with("a", 2, refused(5)), run_with("b", 1, refused(3.2)),
        run_with("b", 2, refused(4.6)), run_with("c", 1, refused(9)), run_with("c", 2, refused(9))},
       "On the trace “t” b and a left the least GPU unallocated, without a clear difference "
       "between "
       "them: b 3.90 ± 0.70 %, a 4.00 ± 1.00 %. Then: c 9.00 ± 0.00 %."},
      {"nothing waits and nothing is refused",
       {run_with("a", 1, {{"unallocated", 60}}), run_with("b", 1, {{"unallocated", 60}})},
       "On the trace “t” every pod was placed as soon as it came, under a and b."},
      {"several traces", on_traces({{4, 5}, {4, 6}, {5, 4}, {3, 3}}),
       "By the share of GPU left unallocated, on 4 traces: fragmentation gradient descent leads on "
       "2, spread on 1; no clear difference between the first ones on 1."},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    CHECK(verdict_on(c.results) == c.want);
  }
}

TEST_CASE("the verdict states that all runs had the same pods") {
  std::vector<Result> results{run_with("a", 1, waited(10)), run_with("b", 1, waited(20))};
  for (Result& result : results) result.arrival = "trace";
  CHECK_THAT(verdict_on(results), Catch::EndsWith("All runs have the same pods: with those of "
                                                  "another time the order may be another."));
}

TEST_CASE("traces are counted by the figure that counts on each") {
  std::vector<Result> results = on_traces({{4, 5}, {0, 0}, {0, 0}});
  results[2].figures = waited(20);
  results[3].figures = waited(10);
  results.pop_back();
  results.pop_back();
  results.push_back(run_with("fgd", 1, refused(4)));
  results.back().trace = "alone";
  CHECK(verdict_on(results) ==
        "By GPU-hours waited, on 1 trace: spread leads on 1. By the share of GPU left unallocated, "
        "on 1 trace: fragmentation gradient descent leads on 1. On 1 trace there is nothing to "
        "compare: one policy, or every pod placed as soon as it came.");
}

TEST_CASE("of many policies the verdict names the first and the last") {
  std::vector<Result> results;
  for (int i = 0; i < 9; ++i) {
    results.push_back(run_with("p" + std::to_string(i), 1, refused(3 + i)));
  }
  CHECK_THAT(verdict_on(results), Catch::Contains("p6 9.00 % and 2 more, up to 11.00 %."));
}

}  // namespace
}  // namespace bench::replay
