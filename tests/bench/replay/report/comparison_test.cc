#include "bench/replay/report/comparison.h"

#include "tests/bench/replay/report/results.h"
#include "tests/support/catch.h"

#include <cmath>
#include <string>
#include <vector>

namespace bench::replay {
namespace {

Result run_of(const std::string& trace, const std::string& policy, std::uint64_t seed) {
  Result result;
  result.trace = trace;
  result.policy = policy;
  result.arrival = "inflate:130";
  result.seed = seed;
  return result;
}

TEST_CASE("spreads are those of a population") {
  CHECK(spread_of({}).runs == 0);
  CHECK(spread_of({5}).deviation == 0);
  const Spread spread = spread_of({2, 4, 4, 4, 5, 5, 7, 9});
  CHECK(spread.mean == 5);
  CHECK(spread.deviation == 2);
  CHECK(spread.runs == 8);
}

TEST_CASE("results are grouped by trace and arrival, then by policy, seeds in order") {
  std::vector<Result> results{run_of("a", "fgd", 43), run_of("a", "random", 42),
                              run_of("b", "random", 42), run_of("a", "fgd", 42)};
  results.push_back(run_of("a", "fgd", 42));
  results.back().arrival = "stationary:95";
  const std::vector<Trace> traces{made_trace("b", 2)};
  const Report report{"", "", traces, results};
  const std::vector<Comparison> all = comparisons(report);
  REQUIRE(all.size() == 3);
  CHECK(all[0].trace == "a");
  CHECK(all[0].source == nullptr);
  REQUIRE(all[0].policies.size() == 2);
  CHECK(all[0].policies[0].name == "fgd");
  REQUIRE(all[0].policies[0].runs.size() == 2);
  CHECK(all[0].policies[0].runs[0]->seed == 42);
  CHECK(all[1].trace == "b");
  CHECK(all[1].source == &traces[0]);
  CHECK(all[1].policies[0].index == 1);  // the same colour on the whole page
  CHECK(all[2].arrival == "stationary:95");
}

TEST_CASE("curves are means at the same arrival, though a run may lack a step") {
  std::vector<Result> results{run_of("a", "fgd", 42), run_of("a", "fgd", 43)};
  for (const double x : {0.0, 1.0, 2.0}) {
    for (Result& result : results) {
      if (x == 1 && result.seed == 43) continue;
      Step step;
      step.x = x;
      step.allocated = x * (result.seed == 42 ? 1 : 3);
      result.steps.push_back(step);
    }
  }
  const Report report{"", "", {}, results};
  const Comparison comparison = comparisons(report).front();
  const Curve curve = mean_curve(comparison.policies.front(), &Step::allocated);
  REQUIRE(curve.size() == 3);
  CHECK(curve[1].y.mean == 1);
  CHECK(curve[1].y.runs == 1);
  CHECK(curve[2].x == 2);
  CHECK(curve[2].y.mean == 4);
  CHECK(curve[2].y.deviation == 2);
}

TEST_CASE("curves over time are means at the same time, though a run has wider slices") {
  std::vector<Result> results{run_of("a", "fgd", 42), run_of("a", "fgd", 43)};
  const auto add = [](Result& result, double x, double allocated) {
    result.over_time = true;
    Step& step = result.steps.emplace_back();
    step.x = x;
    step.allocated = allocated;
  };
  for (int hour = 0; hour < 4; ++hour) add(results[0], hour + 0.5, 2.0 * hour);
  for (int two = 0; two < 3; ++two) add(results[1], 2.0 * two + 1, 4.0 * two + 1);
  const Report report{"", "", {}, results};
  const Comparison comparison = comparisons(report).front();
  const PolicyRuns& policy = comparison.policies.front();
  const Curve curve = mean_curve(policy, &Step::allocated);
  REQUIRE(curve.size() == 3);
  for (std::size_t i = 0; i < curve.size(); ++i) {
    CHECK(curve[i].x == 2.0 * static_cast<double>(i) + 1);
    CHECK(curve[i].y.mean == 4.0 * static_cast<double>(i) + 1);
    CHECK(curve[i].y.deviation == 0);
    CHECK(curve[i].y.runs == (i < 2 ? 2U : 1U));
  }
  CHECK(at_end(policy, &Step::allocated).mean == (6 + 9) / 2.0);
  CHECK(at_end(policy, &Step::allocated).runs == 2);
}

TEST_CASE("published figures are those at the arrival where the runs end") {
  std::vector<Result> results{run_of("openb_pod_list_default", "fgd", 42)};
  struct Case {
    double end;
    double want;  // unallocated % of FGD as published
  };
  for (const Case& c : {Case{130, 4.61}, Case{100, 4.77}, Case{95, 5.10}}) {
    Step step;
    step.x = c.end;
    results[0].steps = {step};
    const Report report{"", "", {}, results};
    const Comparison comparison = comparisons(report).front();
    const Spread published = published_unallocated(comparison, comparison.policies.front());
    CHECK(std::abs(published.mean - c.want) < 0.006);
    CHECK(published.runs == 10);
  }
}

}  // namespace
}  // namespace bench::replay
