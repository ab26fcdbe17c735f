#include "bench/decide/report.h"

#include "scheduler/kubectl-gpu/table.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <sstream>
#include <string_view>
#include <utility>

namespace bench::decide {
namespace {

using Json = nlohmann::ordered_json;

// 1,234,567
std::string grouped(double value) {
  std::string text = fmt::format("{:.0f}", value);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, 1, ',');
  return text;
}

std::string number(std::size_t value) { return grouped(static_cast<double>(value)); }

// Bytes that could be counted.
std::string counted_bytes(double bytes) { return bytes > 0 ? grouped(bytes) : "–"; }

bool waits_for_quota(const Scenario& scenario) {
  return scenario.waiting > 0 && scenario.waiting_for == WaitingFor::kQuota;
}

std::string waiting_text(const Scenario& scenario) {
  if (scenario.quotas > 0) {
    return number(scenario.quotas * scenario.shapes) + " in " + number(scenario.quotas) + " quotas";
  }
  return number(scenario.waiting) + (waits_for_quota(scenario) ? " over quota" : "");
}

double per_second(std::size_t count, double seconds) {
  return static_cast<double>(count) / std::max(seconds, 1e-9);
}

double helped_share(const TrialFigures& figures) {
  return static_cast<double>(figures.helped) / std::max(static_cast<double>(figures.trials), 1.0);
}

// A header that begins with ">" aligns its column to the right (table.h).
template <typename Run>
struct Column {
  std::string_view header;
  std::string (*cell)(const Run& run);
};

template <typename Run>
constexpr int kColumns = 0;

template <>
constexpr auto kColumns<Figures> = std::to_array<Column<Figures>>({
    {">NODES", [](const Figures& run) { return number(run.scenario.nodes); }},
    {">SHAPES", [](const Figures& run) { return number(run.scenario.shapes); }},
    {">WAITING", [](const Figures& run) { return waiting_text(run.scenario); }},
    {">DECISIONS/s", [](const Figures& run) { return grouped(run.decisions_per_second); }},
    {">P50 ns", [](const Figures& run) { return number(run.p50_ns); }},
    {">P99 ns", [](const Figures& run) { return number(run.p99_ns); }},
    {">PODS/s, ALL EVENTS", [](const Figures& run) { return grouped(run.pods_per_second); }},
    {">REFUSED %",
     [](const Figures& run) { return fmt::format("{:.2f}", 100 * run.refused_share); }},
    {">PODS ON NODES", [](const Figures& run) { return number(run.bound); }},
    {">BYTES/NODE", [](const Figures& run) { return counted_bytes(run.bytes_per_node); }},
    {">BYTES/POD", [](const Figures& run) { return counted_bytes(run.bytes_per_pod); }},
    {">BYTES/SHAPE", [](const Figures& run) { return counted_bytes(run.bytes_per_shape); }},
});

template <>
constexpr auto kColumns<TrialRun> = std::to_array<Column<TrialRun>>({
    {">NODES", [](const TrialRun& run) { return number(run.nodes); }},
    {">SHAPES", [](const TrialRun& run) { return number(run.shapes); }},
    {">PODS ON NODES", [](const TrialRun& run) { return number(run.figures.pods); }},
    {">TRIALS/s",
     [](const TrialRun& run) {
       return grouped(per_second(run.figures.trials, run.figures.cpu_seconds));
     }},
    {">A NODE MORE TOOK THE POD %",
     [](const TrialRun& run) { return fmt::format("{:.1f}", 100 * helped_share(run.figures)); }},
});

template <>
constexpr auto kColumns<RuledRun> = std::to_array<Column<RuledRun>>({
    {">NODES", [](const RuledRun& run) { return number(run.nodes); }},
    {"PODS", [](const RuledRun& run) { return std::string(kRules[run.rule].what); }},
    {">BOUND", [](const RuledRun& run) { return number(run.figures.bound); }},
    {">DECISIONS/s",
     [](const RuledRun& run) { return grouped(per_second(run.pods, run.figures.cpu_seconds)); }},
});

template <>
constexpr auto kColumns<CrowdRun> = std::to_array<Column<CrowdRun>>({
    {">NODES", [](const CrowdRun& run) { return number(run.nodes); }},
    {"ANOTHER TENANT'S PODS",
     [](const CrowdRun& run) { return std::string(kCrowds[run.crowd].what); }},
    {">THEY CAME IN s",
     [](const CrowdRun& run) { return fmt::format("{:.2f}", run.figures.came_seconds); }},
    {">BEHIND IT s",
     [](const CrowdRun& run) { return fmt::format("{:.3f}", run.figures.behind_seconds); }},
    {">A NEIGHBOUR'S TURN µs", [](const CrowdRun& run) { return grouped(run.figures.mean_us); }},
    {">HALF WITHIN µs", [](const CrowdRun& run) { return grouped(run.figures.median_us); }},
    {">99 % WITHIN µs", [](const CrowdRun& run) { return grouped(run.figures.longest_us); }},
    {">HEAP MB",
     [](const CrowdRun& run) {
       return grouped(static_cast<double>(run.figures.held_bytes) / 1e6);
     }},
    {">BOUND", [](const CrowdRun& run) { return number(run.figures.bound); }},
});

template <>
constexpr auto kColumns<PreemptingRun> = std::to_array<Column<PreemptingRun>>({
    {">NODES", [](const PreemptingRun& run) { return number(run.nodes); }},
    {"PODS", [](const PreemptingRun& run) { return std::string(kPreemptors[run.preemptor].what); }},
    {">EVICT", [](const PreemptingRun& run) { return number(run.figures.found); }},
    {">MS EACH",
     [](const PreemptingRun& run) {
       return fmt::format("{:.3f}", 1e3 / per_second(run.pods, run.figures.cpu_seconds));
     }},
    {">LONGEST MS",
     [](const PreemptingRun& run) {
       return fmt::format("{:.3f}", 1e3 * run.figures.longest_seconds);
     }},
});

template <>
constexpr auto kColumns<GroupedRun> = std::to_array<Column<GroupedRun>>({
    {">NODES", [](const GroupedRun& run) { return number(run.nodes); }},
    {"PODS", [](const GroupedRun& run) { return std::string(kGroupKinds[run.kind].what); }},
    {">BOUND", [](const GroupedRun& run) { return number(run.figures.bound); }},
    {">MS A GROUP",
     [](const GroupedRun& run) {
       return fmt::format("{:.3f}", 1e3 / per_second(run.groups, run.figures.cpu_seconds));
     }},
    {">LONGEST MS",
     [](const GroupedRun& run) {
       return fmt::format("{:.3f}", 1e3 * run.figures.longest_seconds);
     }},
});

Json fields_of(const Figures& run) {
  return {{"nodes", run.scenario.nodes},
          {"shapes", run.scenario.shapes},
          {"waiting", run.scenario.waiting},
          {"waiting_for", waits_for_quota(run.scenario) ? "quota" : "nodes"},
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
          {"bytes_per_shape", run.bytes_per_shape}};
}

Json fields_of(const TrialRun& run) {
  return {{"nodes", run.nodes},
          {"shapes", run.shapes},
          {"bound", run.figures.pods},
          {"trials", run.figures.trials},
          {"trials_per_second", per_second(run.figures.trials, run.figures.cpu_seconds)},
          {"helped_share", helped_share(run.figures)}};
}

Json fields_of(const RuledRun& run) {
  return {{"nodes", run.nodes},
          {"rule", kRules[run.rule].name},
          {"pods", run.pods},
          {"bound", run.figures.bound},
          {"refused", run.figures.refused},
          {"decisions_per_second", per_second(run.pods, run.figures.cpu_seconds)}};
}

Json fields_of(const CrowdRun& run) {
  return {{"nodes", run.nodes},
          {"crowd", kCrowds[run.crowd].name},
          {"came_seconds", run.figures.came_seconds},
          {"behind_seconds", run.figures.behind_seconds},
          {"turn_mean_us", run.figures.mean_us},
          {"turn_p50_us", run.figures.median_us},
          {"turn_p99_us", run.figures.longest_us},
          {"held_bytes", run.figures.held_bytes},
          {"bound", run.figures.bound}};
}

Json fields_of(const PreemptingRun& run) {
  return {{"nodes", run.nodes},
          {"preemptor", kPreemptors[run.preemptor].name},
          {"pods", run.pods},
          {"found", run.figures.found},
          {"evicted", run.figures.evicted},
          {"cpu_seconds", run.figures.cpu_seconds},
          {"longest_seconds", run.figures.longest_seconds}};
}

Json fields_of(const GroupedRun& run) {
  return {{"nodes", run.nodes},
          {"kind", kGroupKinds[run.kind].name},
          {"groups", run.groups},
          {"bound", run.figures.bound},
          {"cpu_seconds", run.figures.cpu_seconds},
          {"longest_seconds", run.figures.longest_seconds}};
}

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "g++ " __VERSION__;
#endif
}

}  // namespace

template <typename Run>
std::string to_table(const std::vector<Run>& runs) {
  if (runs.empty()) return {};
  std::vector<std::string> headers;
  for (const Column<Run>& column : kColumns<Run>) headers.emplace_back(column.header);
  sched::kubectl::Table table(std::move(headers));
  for (const Run& run : runs) {
    std::vector<std::string> row;
    for (const Column<Run>& column : kColumns<Run>) row.push_back(column.cell(run));
    table.add(std::move(row));
  }
  std::ostringstream out;
  table.print(out, {});
  return out.str();
}

template <typename Run>
std::string to_json(const std::vector<Run>& runs) {
  Json all = Json::array();
  for (const Run& run : runs) all.push_back(fields_of(run));
  return Json{{"compiler", compiler()}, {"runs", all}}.dump(2) + '\n';
}

template <typename Run>
std::string to_line(const Run& run) {
  std::string line;
  for (std::size_t i = 0; i < 4; ++i) {
    const Column<Run>& column = kColumns<Run>[i];
    const std::string_view header = column.header.substr(column.header.starts_with('>') ? 1 : 0);
    line += fmt::format("{}{} {}", i == 0 ? "" : ", ", header, column.cell(run));
  }
  return line;
}

template std::string to_table(const std::vector<Figures>& runs);
template std::string to_table(const std::vector<TrialRun>& runs);
template std::string to_table(const std::vector<RuledRun>& runs);
template std::string to_table(const std::vector<CrowdRun>& runs);
template std::string to_table(const std::vector<PreemptingRun>& runs);
template std::string to_table(const std::vector<GroupedRun>& runs);
template std::string to_json(const std::vector<Figures>& runs);
template std::string to_json(const std::vector<TrialRun>& runs);
template std::string to_json(const std::vector<RuledRun>& runs);
template std::string to_json(const std::vector<CrowdRun>& runs);
template std::string to_json(const std::vector<PreemptingRun>& runs);
template std::string to_json(const std::vector<GroupedRun>& runs);
template std::string to_line(const Figures& run);
template std::string to_line(const TrialRun& run);
template std::string to_line(const RuledRun& run);
template std::string to_line(const CrowdRun& run);
template std::string to_line(const PreemptingRun& run);
template std::string to_line(const GroupedRun& run);

}  // namespace bench::decide
