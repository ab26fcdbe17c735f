#include "bench/replay/report/comparison.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace bench::replay {
namespace {

constexpr std::size_t kPublishedSeeds = 10;

template <typename Items, typename Matches>
auto* find_or_add(Items& items, Matches matches) {
  const auto found = std::find_if(items.begin(), items.end(), matches);
  return found == items.end() ? &items.emplace_back() : &*found;
}

const Trace* trace_named(const std::vector<Trace>& traces, const std::string& name) {
  const auto found = std::find_if(traces.begin(), traces.end(),
                                  [&](const Trace& trace) { return trace.name == name; });
  return found == traces.end() ? nullptr : &*found;
}

// Of runs over time the widest slice, in the middle of which its step is; else 0.
double widest_slice(const PolicyRuns& policy) {
  double widest = 0;
  for (const Result* run : policy.runs) {
    if (run->over_time && !run->steps.empty()) widest = std::max(widest, 2 * run->steps.front().x);
  }
  return widest;
}

void sort_by_seed(PolicyRuns& policy) {
  std::stable_sort(policy.runs.begin(), policy.runs.end(),
                   [](const Result* a, const Result* b) { return a->seed < b->seed; });
}

}  // namespace

Spread spread_of(const std::vector<double>& values) {
  Spread spread;
  spread.runs = values.size();
  if (values.empty()) return spread;
  const auto n = static_cast<double>(values.size());
  for (const double value : values) spread.mean += value;
  spread.mean /= n;
  double squares = 0;
  for (const double value : values) squares += (value - spread.mean) * (value - spread.mean);
  spread.deviation = std::sqrt(squares / n);
  return spread;
}

Spread PolicyRuns::figure(const std::string& figure_name) const {
  std::vector<double> values;
  for (const Result* run : runs) {
    const auto found = run->figures.find(figure_name);
    if (found != run->figures.end()) values.push_back(found->second);
  }
  return spread_of(values);
}

bool Comparison::has_published_curves() const {
  return !over_time && arrival.starts_with("inflate") && !published_curves(trace).empty();
}

std::vector<std::string> policy_names(const Report& report) {
  std::vector<std::string> names;
  for (const Result& result : report.results) {
    if (std::find(names.begin(), names.end(), result.policy) == names.end()) {
      names.push_back(result.policy);
    }
  }
  return names;
}

std::vector<Comparison> comparisons(const Report& report) {
  const std::vector<std::string> names = policy_names(report);
  std::vector<Comparison> found;
  for (const Result& result : report.results) {
    Comparison* comparison = find_or_add(found, [&](const Comparison& c) {
      return c.trace == result.trace && c.arrival == result.arrival;
    });
    comparison->trace = result.trace;
    comparison->arrival = result.arrival;
    comparison->source = trace_named(report.traces, result.trace);
    comparison->over_time = result.over_time;
    PolicyRuns* policy = find_or_add(comparison->policies,
                                     [&](const PolicyRuns& p) { return p.name == result.policy; });
    policy->name = result.policy;
    policy->index = static_cast<std::size_t>(std::find(names.begin(), names.end(), result.policy) -
                                             names.begin());
    policy->runs.push_back(&result);
  }
  for (Comparison& comparison : found) {
    for (PolicyRuns& policy : comparison.policies) sort_by_seed(policy);
    std::sort(comparison.policies.begin(), comparison.policies.end(),
              [](const PolicyRuns& a, const PolicyRuns& b) { return a.index < b.index; });
  }
  return found;
}

Curve mean_curve(const PolicyRuns& policy, const std::function<double(const Step&)>& figure) {
  struct Samples {
    std::vector<double> x;
    std::vector<double> y;
  };
  const double slice = widest_slice(policy);
  std::map<long, Samples> at;
  for (const Result* run : policy.runs) {
    std::map<long, Samples> of_run;
    for (const Step& step : run->steps) {
      Samples& samples =
          of_run[slice > 0 ? static_cast<long>(step.x / slice) : std::lround(step.x)];
      samples.x.push_back(step.x);
      samples.y.push_back(figure(step));
    }
    for (const auto& [key, samples] : of_run) {
      at[key].x.push_back(spread_of(samples.x).mean);
      at[key].y.push_back(spread_of(samples.y).mean);
    }
  }
  Curve curve;
  for (const auto& [key, samples] : at) {
    curve.push_back({spread_of(samples.x).mean, spread_of(samples.y)});
  }
  return curve;
}

Spread at_end(const PolicyRuns& policy, const std::function<double(const Step&)>& figure) {
  std::vector<double> values;
  for (const Result* run : policy.runs) {
    if (!run->steps.empty()) values.push_back(figure(run->steps.back()));
  }
  return spread_of(values);
}

const PublishedCurve* published_curve(const Comparison& comparison,
                                      std::string_view published_policy) {
  if (!comparison.has_published_curves()) return nullptr;
  for (const PublishedCurve& curve : published_curves(comparison.trace)) {
    if (curve.policy == published_policy) return &curve;
  }
  return nullptr;
}

Spread published_unallocated(const Comparison& comparison, const PolicyRuns& policy) {
  const PublishedCurve* curve = published_curve(comparison, published_name(policy.name));
  const std::vector<Step>& steps = policy.runs.front()->steps;
  if (curve == nullptr || steps.empty()) return {};
  const auto end = static_cast<std::size_t>(std::max(0L, std::lround(steps.back().x)));
  const std::size_t at = std::min(end, curve->allocated.size() - 1);
  return {100 - curve->allocated[at], curve->deviation[at], kPublishedSeeds};
}

}  // namespace bench::replay
