// The comparisons of the report: policies side by side on the same trace and arrival, each over its
// seeds.
//
// Results of the same trace and arrival make one Comparison. Means and deviations are over seeds;
// the deviation is that of a population, as in the published figures.
#pragma once

#include "bench/replay/report/report.h"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace bench::replay {

struct Spread {
  double mean = 0;
  double deviation = 0;
  std::size_t runs = 0;  // 0: there are none
};

[[nodiscard]] Spread spread_of(const std::vector<double>& values);

// One policy's runs on one trace, one per seed.
struct PolicyRuns {
  std::size_t index = 0;  // among all policies of the page; gives the colour
  std::string name;
  std::vector<const Result*> runs;  // never empty

  // Over the runs that have the figure.
  [[nodiscard]] Spread figure(const std::string& name) const;
};

struct Comparison {
  std::string trace;
  std::string arrival;
  const Trace* source = nullptr;  // null if the report was not given the trace
  bool over_time = false;
  std::vector<PolicyRuns> policies;  // never empty; in the order of the page

  [[nodiscard]] bool has_published_curves() const;
};

// In the order in which they first occur among the results.
[[nodiscard]] std::vector<Comparison> comparisons(const Report& report);

// All policies of the report, by index.
[[nodiscard]] std::vector<std::string> policy_names(const Report& report);

struct CurvePoint {
  double x = 0;
  Spread y;
};
using Curve = std::vector<CurvePoint>;

// A figure of the steps over the runs: at whole percents of arrival, or by slices of time. A run
// that lasts longer may have wider slices; those of the others are then averaged over the same
// time.
[[nodiscard]] Curve mean_curve(const PolicyRuns& policy,
                               const std::function<double(const Step&)>& figure);

// A figure of the last steps of the runs, which may end at different times.
[[nodiscard]] Spread at_end(const PolicyRuns& policy,
                            const std::function<double(const Step&)>& figure);

// The published allocation of the policy with that published name; null: none.
[[nodiscard]] const PublishedCurve* published_curve(const Comparison& comparison,
                                                    std::string_view published_policy);

// Published unallocated % at the arrival where the policy's runs end.
[[nodiscard]] Spread published_unallocated(const Comparison& comparison, const PolicyRuns& policy);

}  // namespace bench::replay
