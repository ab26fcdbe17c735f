#include "bench/decide/figures.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <ostream>
#include <string>
#include <utility>

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

// 1,234,567
std::string grouped(double value) {
  std::string text = fmt::format("{:.0f}", value);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, 1, ',');
  return text;
}

std::string waiting(const Scenario& scenario) {
  const auto number = [](std::size_t value) { return grouped(static_cast<double>(value)); };
  if (scenario.quotas > 0) {
    return number(scenario.quotas * scenario.shapes) + " in " + number(scenario.quotas) + " quotas";
  }
  const bool over_quota = scenario.waiting > 0 && scenario.waiting_for == WaitingFor::kQuota;
  return number(scenario.waiting) + (over_quota ? " over quota" : "");
}

std::string counted(double bytes) { return bytes > 0 ? grouped(bytes) : "–"; }

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "g++ " __VERSION__;
#endif
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

void write_head(std::ostream& out) {
  fmt::print(out,
             "| nodes | shapes | waiting | decisions/s | p50 ns | p99 ns | pods/s, all events | "
             "refused | pods on nodes | bytes per node | per pod | per shape |\n"
             "|---|---|---|---|---|---|---|---|---|---|---|---|\n");
}

void write_line(std::ostream& out, const Figures& run) {
  const auto number = [](std::size_t value) { return grouped(static_cast<double>(value)); };
  fmt::print(out, "| {} | {} | {} | {} | {} | {} | {} | {:.2f} % | {} | {} | {} | {} |\n",
             number(run.scenario.nodes), number(run.scenario.shapes), waiting(run.scenario),
             grouped(run.decisions_per_second), number(run.p50_ns), number(run.p99_ns),
             grouped(run.pods_per_second), 100 * run.refused_share, number(run.bound),
             counted(run.bytes_per_node), counted(run.bytes_per_pod), counted(run.bytes_per_shape));
  out.flush();
}

void write_json(std::ostream& out, const std::vector<Figures>& runs) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Figures& run : runs) {
    const bool for_quota =
        run.scenario.waiting > 0 && run.scenario.waiting_for == WaitingFor::kQuota;
    all.push_back({{"nodes", run.scenario.nodes},
                   {"shapes", run.scenario.shapes},
                   {"waiting", run.scenario.waiting},
                   {"waiting_for", for_quota ? "quota" : "nodes"},
                   {"quotas", run.scenario.quotas},
                   {"warm_up", run.scenario.warm_up},
                   {"pods", run.scenario.pods},
                   {"load", run.scenario.load},
                   {"seed", run.scenario.seed},
                   {"decisions_per_second", run.decisions_per_second},
                   {"p50_ns", run.p50_ns},
                   {"p99_ns", run.p99_ns},
                   {"pods_per_second", run.pods_per_second},
                   {"refused_share", run.refused_share},
                   {"bound", run.bound},
                   {"gpu_load", run.gpu_load},
                   {"bytes_per_node", run.bytes_per_node},
                   {"bytes_per_pod", run.bytes_per_pod},
                   {"bytes_per_shape", run.bytes_per_shape}});
  }
  out << nlohmann::ordered_json{{"compiler", compiler()}, {"runs", all}}.dump(2) << '\n';
}

}  // namespace bench::decide
