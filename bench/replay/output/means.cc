#include "bench/replay/output/means.h"

#include "bench/replay/report/published.h"

#include <algorithm>
#include <cmath>

namespace bench::replay {
namespace {

MeanAndSpread mean_of(const std::vector<const Result*>& runs, const std::string& figure) {
  const auto count = static_cast<double>(runs.size());
  MeanAndSpread of;
  for (const Result* run : runs) of.mean += run->figures.at(figure) / count;
  double squares = 0;
  for (const Result* run : runs) squares += std::pow(run->figures.at(figure) - of.mean, 2);
  of.deviation = std::sqrt(squares / count);
  return of;
}

// The published curve is read at the arrival at which the run ended.
std::optional<MeanAndSpread> published_for(const Result& run) {
  if (run.over_time || run.steps.empty() || run.arrival.rfind("inflate", 0) != 0) {
    return std::nullopt;
  }
  const auto x = static_cast<std::size_t>(std::lround(run.steps.back().x));
  const std::string_view name = published_name(run.policy);
  for (const PublishedCurve& curve : published_curves(run.trace)) {
    if (curve.policy != name || x >= curve.allocated.size()) continue;
    return MeanAndSpread{100 - curve.allocated[x], curve.deviation[x]};
  }
  return std::nullopt;
}

PolicyMeans means_of(const std::vector<const Result*>& runs) {
  const Result& first = *runs.front();
  PolicyMeans means{.trace = first.trace,
                    .policy = first.policy,
                    .tie_break = first.tie_break,
                    .arrival = first.arrival,
                    .over_time = first.over_time,
                    .runs = runs.size(),
                    .figures = {},
                    .published = published_for(first)};
  for (const auto& [figure, value] : first.figures) {
    const bool everywhere = std::all_of(runs.begin(), runs.end(), [&](const Result* run) {
      return run->figures.count(figure) > 0;
    });
    if (everywhere) means.figures.emplace(figure, mean_of(runs, figure));
  }
  for (const Result* run : runs) {
    means.decisions += run->decisions;
    means.seconds += run->seconds;
  }
  return means;
}

}  // namespace

std::vector<PolicyMeans> means_over_seeds(const std::vector<Result>& results) {
  std::vector<std::vector<const Result*>> groups;
  for (const Result& result : results) {
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
      return group.front()->trace == result.trace && group.front()->policy == result.policy;
    });
    if (same == groups.end()) {
      groups.push_back({&result});
    } else {
      same->push_back(&result);
    }
  }
  std::vector<PolicyMeans> all;
  for (const auto& group : groups) all.push_back(means_of(group));
  return all;
}

}  // namespace bench::replay
