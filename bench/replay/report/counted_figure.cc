#include "bench/replay/report/counted_figure.h"

#include "bench/replay/report/page/text.h"

#include <algorithm>
#include <cmath>

namespace bench::replay {
namespace {

bool any_has(const Comparison& comparison, const std::string& figure) {
  return std::any_of(comparison.policies.begin(), comparison.policies.end(),
                     [&](const PolicyRuns& policy) { return policy.figure(figure).mean > 0; });
}

double as_printed(double value, int decimals) {
  const double scale = std::pow(10, decimals);
  return std::round(value * scale) / scale;
}

bool is_clearly_behind(const PolicyRuns& policy, const PolicyRuns& first,
                       const CountedFigure& figure) {
  const Spread a = first.figure(std::string(figure.name));
  const Spread b = policy.figure(std::string(figure.name));
  const double difference =
      as_printed(b.mean, figure.decimals) - as_printed(a.mean, figure.decimals);
  return difference > 0 && difference > std::max(a.deviation, b.deviation);
}

}  // namespace

CountedFigure counted_figure(const Comparison& comparison) {
  return any_has(comparison, std::string(kGpuHoursWaited.name)) ? kGpuHoursWaited : kUnallocated;
}

bool all_placed_at_once(const Comparison& comparison) {
  return !any_has(comparison, "gpu_hours_waited") && !any_has(comparison, "wait_max") &&
         !any_has(comparison, "waiting_pods") && !any_has(comparison, "refused_pods");
}

std::string figure_text(const PolicyRuns& policy, const CountedFigure& figure) {
  return page::spread(policy.figure(std::string(figure.name)), figure.decimals);
}

Ranking ranking_of(const Comparison& comparison) {
  Ranking ranking;
  ranking.figure = counted_figure(comparison);
  const std::string name(ranking.figure.name);
  for (const PolicyRuns& policy : comparison.policies) {
    if (policy.figure(name).runs > 0) ranking.ranked.push_back(&policy);
  }
  std::stable_sort(ranking.ranked.begin(), ranking.ranked.end(),
                   [&](const PolicyRuns* a, const PolicyRuns* b) {
                     return a->figure(name).mean < b->figure(name).mean;
                   });
  while (ranking.leaders < ranking.ranked.size() &&
         !is_clearly_behind(*ranking.ranked[ranking.leaders], *ranking.ranked.front(),
                            ranking.figure)) {
    ++ranking.leaders;
  }
  return ranking;
}

}  // namespace bench::replay
