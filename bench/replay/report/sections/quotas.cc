#include "bench/replay/report/page/text.h"
#include "bench/replay/report/sections/sections.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <utility>

namespace bench::replay {
namespace {

using LineName = std::pair<std::string, std::string>;  // quota, gpuType

// In the order of the first policy's account.
std::vector<LineName> lines_of(const Comparison& comparison) {
  std::vector<LineName> lines;
  for (const QuotaStep& step : comparison.policies.front().runs.front()->quota_steps) {
    LineName line{step.quota, step.gpu_type};
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) {
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

page::Line curve(const Result& run, const LineName& line, double QuotaStep::*amount,
                 std::string name, std::string style) {
  page::Line drawn{.name = std::move(name), .style = std::move(style)};
  for (const QuotaStep& step : run.quota_steps) {
    if (step.quota != line.first || step.gpu_type != line.second) continue;
    drawn.points.push_back({step.x, step.*amount});
  }
  return drawn;
}

// One line of a quota: what is guaranteed, and what the policies' first seeds used.
void write_line(std::ostream& out, const Comparison& comparison, const LineName& line) {
  page::Plot plot;
  plot.title = fmt::format("{}: {}", page::escape(line.first), page::escape(line.second));
  plot.small = true;
  const Result& first = *comparison.policies.front().runs.front();
  plot.lines.push_back(curve(first, line, &QuotaStep::guaranteed, "guaranteed", "reference"));
  for (const PolicyRuns& policy : comparison.policies) {
    const Result& run = *policy.runs.front();
    const std::string style = policy_style(policy);
    plot.lines.push_back(curve(run, line, &QuotaStep::used, policy.name + ", used", style));
    plot.lines.push_back(
        curve(run, line, &QuotaStep::pending, policy.name + ", pending", style + " published"));
  }
  double most_x = 1;
  double most_y = 1;
  for (const page::Line& drawn : plot.lines) {
    for (const page::Point& point : drawn.points) {
      most_x = std::max(most_x, point.x);
      most_y = std::max(most_y, point.y);
    }
  }
  plot.about = fmt::format("GPUs of quota {}, type {}, used and asked for by waiting pods",
                           line.first, line.second);
  plot.x = comparison.over_time ? page::hours_axis(most_x, 5)
                                : page::linear_axis("pods that came", 0, most_x, false, 5);
  plot.y = page::linear_axis("GPUs", 0, most_y, true, 4);
  page::write_plot(out, plot);
}

struct Means {
  double used = 0;
  double borrowed = 0;
  double lent = 0;
  double pending = 0;
};

Means means_of(const Result& run, const LineName& line) {
  Means sum;
  double steps = 0;
  for (const QuotaStep& step : run.quota_steps) {
    if (step.quota != line.first || step.gpu_type != line.second) continue;
    sum.used += step.used;
    sum.borrowed += step.borrowed;
    sum.lent += step.lent;
    sum.pending += step.pending;
    ++steps;
  }
  if (steps == 0) return sum;
  return {sum.used / steps, sum.borrowed / steps, sum.lent / steps, sum.pending / steps};
}

void write_means(std::ostream& out, const Comparison& comparison,
                 const std::vector<LineName>& lines) {
  page::Table table;
  table.caption = "GPUs on average over the run: used, of which borrowed; lent; waited for";
  table.columns = policy_columns("quota", comparison);
  table.columns.insert(table.columns.begin() + 1, "GPU type");
  for (const LineName& line : lines) {
    std::vector<page::Cell> row{{page::escape(line.first)}, {page::escape(line.second)}};
    for (const PolicyRuns& policy : comparison.policies) {
      const Means means = means_of(*policy.runs.front(), line);
      row.push_back({fmt::format("{} <small>({} borrowed)</small>; {}; {}",
                                 page::number(means.used, 1), page::number(means.borrowed, 1),
                                 page::number(means.lent, 1), page::number(means.pending, 1))});
    }
    table.rows.push_back(std::move(row));
  }
  page::write_table(out, table);
}

}  // namespace

void write_quotas(std::ostream& out, const Comparison& comparison) {
  const std::vector<LineName> lines = lines_of(comparison);
  if (lines.empty()) return;
  out << "<h3>By GPU quota</h3>\n";
  write_means(out, comparison, lines);
  constexpr std::size_t kMost = 12;
  for (std::size_t i = 0; i < std::min(lines.size(), kMost); ++i) {
    write_line(out, comparison, lines[i]);
  }
  if (lines.size() <= kMost) return;
  out << "<p class=\"note\">" << page::count(lines.size() - kMost)
      << " further lines are in quotas.csv alone.</p>\n";
}

}  // namespace bench::replay
