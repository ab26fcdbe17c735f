#include "bench/decide/figures.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace bench::decide {

namespace {

// Of sorted values, at least one.
std::uint32_t quantile(const std::vector<std::uint32_t>& sorted, double share) {
  const auto at = static_cast<std::size_t>(share * static_cast<double>(sorted.size()));
  return sorted[std::min(at, sorted.size() - 1)];
}

double mean_but_longest(const std::vector<std::uint32_t>& sorted) {
  const std::size_t count = sorted.size() - sorted.size() / 1'000;
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += sorted[i];
  return sum / static_cast<double>(count);
}

}  // namespace

Figures figures_of(const Scenario& scenario, Outcome outcome) {
  Figures figures{.scenario = scenario,
                  .bound = outcome.bound,
                  .gpu_load = outcome.gpu_load,
                  .bytes_per_node = outcome.bytes_per_node,
                  .bytes_per_pod = outcome.bytes_per_pod,
                  .bytes_per_shape = outcome.bytes_per_shape};
  std::vector<std::uint32_t>& decisions = outcome.decisions;
  if (decisions.empty()) return figures;
  std::sort(decisions.begin(), decisions.end());
  const auto count = static_cast<double>(decisions.size());
  figures.pods_per_second = count / std::max(outcome.cpu_seconds, 1e-9);
  figures.decisions_per_second = 1e9 / std::max(mean_but_longest(decisions), 1.0);
  figures.p50_ns = quantile(decisions, 0.5);
  figures.p99_ns = quantile(decisions, 0.99);
  figures.refused_share = static_cast<double>(outcome.refused) / count;
  return figures;
}

}  // namespace bench::decide
