#include "bench/replay/account/waits.h"

#include "bench/replay/report/page/text.h"
#include "bench/replay/report/sections/sections.h"

#include <fmt/core.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace bench::replay {
namespace {

// The waits of all seeds of a policy, sorted.
std::vector<double> pooled_waits(const PolicyRuns& policy) {
  std::vector<double> waits;
  for (const Result* run : policy.runs) {
    waits.insert(waits.end(), run->waits.begin(), run->waits.end());
  }
  std::sort(waits.begin(), waits.end());
  return waits;
}

double share_within(const std::vector<double>& sorted, double seconds) {
  const auto end = std::upper_bound(sorted.begin(), sorted.end(), seconds);
  return static_cast<double>(end - sorted.begin()) / static_cast<double>(sorted.size());
}

// % of the pods that waited no longer, at evenly spaced points of the logarithmic axis.
std::vector<page::Point> distribution(const std::vector<double>& sorted, const page::Axis& axis) {
  constexpr int kPoints = 120;
  std::vector<page::Point> points;
  for (int i = 0; i <= kPoints; ++i) {
    const double x = axis.from * std::pow(axis.to / axis.from, static_cast<double>(i) / kPoints);
    points.push_back({x, 100 * share_within(sorted, i == kPoints ? axis.to * 1.001 : x)});
  }
  return points;
}

page::Table quantiles(const Comparison& comparison) {
  struct Column {
    const char* title;
    double share;
  };
  constexpr std::array<Column, 5> kColumns{
      {{"median", 0.5}, {"90 %", 0.9}, {"95 %", 0.95}, {"99 %", 0.99}, {"longest", 1}}};
  page::Table table;
  table.caption = "Waits, all seeds together; pods that still wait count as waiting until the end";
  table.columns = {"policy", "placed within a second"};
  for (const Column& column : kColumns) table.columns.emplace_back(column.title);
  for (const PolicyRuns& policy : comparison.policies) {
    const std::vector<double> waits = pooled_waits(policy);
    if (waits.empty()) continue;
    std::vector<page::Cell> row{{policy_name_html(policy)},
                                {page::number(100 * share_within(waits, 1), 1) + " %"}};
    for (const Column& column : kColumns) {
      row.push_back({page::duration(quantile(waits, column.share))});
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

void write_waits(std::ostream& out, const Comparison& comparison) {
  page::Plot plot;
  double longest = 0;
  for (const PolicyRuns& policy : comparison.policies) {
    for (const Result* run : policy.runs) {
      if (!run->waits.empty()) longest = std::max(longest, run->waits.back());
    }
  }
  if (longest <= 0) return;
  plot.title = "How long pods waited";
  plot.about = "Share of pods that waited no longer than a time; the table has the figures";
  plot.x = page::duration_axis("waited at most (logarithmic; the left edge is a second or less)",
                               longest);
  double least = 100;
  for (const PolicyRuns& policy : comparison.policies) {
    const std::vector<double> waits = pooled_waits(policy);
    if (waits.empty()) continue;
    page::Line line{.name = policy.name, .style = policy_style(policy)};
    line.points = distribution(waits, plot.x);
    line.marked = policy.index >= kPolicyColours;
    least = std::min(least, line.points.front().y);
    plot.lines.push_back(std::move(line));
  }
  plot.y = page::linear_axis("% of pods", std::floor(least / 10) * 10, 100, true);
  out << "<h3>Waiting</h3>\n";
  write_legend(out, comparison);
  out << "<div class=\"plots\">\n";
  page::write_plot(out, plot);
  out << "</div>\n";
  page::write_table(out, quantiles(comparison));
}

}  // namespace bench::replay
