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
std::vector<page::Point> distribution(const std::vector<double>& sorted, double longest) {
  constexpr int kPoints = 120;
  std::vector<page::Point> points;
  for (int i = 0; i <= kPoints; ++i) {
    const double x = std::pow(longest, static_cast<double>(i) / kPoints);
    points.push_back({x, 100 * share_within(sorted, i == kPoints ? longest * 1.001 : x)});
  }
  return points;
}

// Over the seeds, as the figures wait_p50 and wait_p99 are.
double mean_quantile(const PolicyRuns& policy, double share) {
  std::vector<double> values;
  for (const Result* run : policy.runs) values.push_back(quantile(run->waits, share));
  return spread_of(values).mean;
}

page::Table quantiles(const Comparison& comparison) {
  struct QuantileColumn {
    const char* title;
    double share;
  };
  constexpr std::array<QuantileColumn, 5> kColumns{{{"half of the pods waited at most", 0.5},
                                                    {"90 of 100", 0.9},
                                                    {"95 of 100", 0.95},
                                                    {"99 of 100", 0.99},
                                                    {"the longest", 1}}};
  page::Table table;
  table.caption = "Pods that still wait count as waiting until the end; mean over seeds";
  table.columns = {"policy", "placed within a second"};
  for (const QuantileColumn& column : kColumns) table.columns.emplace_back(column.title);
  for (const PolicyRuns& policy : comparison.policies) {
    const std::vector<double> waits = pooled_waits(policy);
    if (waits.empty()) continue;
    std::vector<page::Cell> row{{policy_name_html(policy)},
                                {page::number(100 * share_within(waits, 1), 1) + " %"}};
    for (const QuantileColumn& column : kColumns) {
      row.push_back({page::duration(mean_quantile(policy, column.share))});
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

// Sizes of pods of which any waited, from small to large.
std::vector<std::string> sizes_of(const Comparison& comparison) {
  std::vector<std::string> sizes;
  for (const PolicyRuns& policy : comparison.policies) {
    for (const Result* run : policy.runs) {
      for (const WaitOfSize& size : run->waits_by_size) {
        const bool is_known = std::find(sizes.begin(), sizes.end(), size.size) != sizes.end();
        if (size.gpu_hours > 0 && !is_known) sizes.push_back(size.size);
      }
    }
  }
  return sizes;
}

page::Cell wait_of_size(const PolicyRuns& policy, const std::string& size) {
  double gpu_hours = 0;
  double p99 = 0;
  const auto runs = static_cast<double>(policy.runs.size());
  for (const Result* run : policy.runs) {
    for (const WaitOfSize& wait : run->waits_by_size) {
      if (wait.size != size) continue;
      gpu_hours += wait.gpu_hours / runs;
      p99 += wait.p99 / runs;
    }
  }
  return {fmt::format("{} <small>{}</small>", page::number(gpu_hours, 0), page::duration(p99))};
}

page::Table by_size(const Comparison& comparison) {
  page::Table table;
  table.caption =
      "GPU-hours that pods waited, by how much GPU a pod asks for; small: 99 of 100 of them waited "
      "at most";
  table.columns = policy_columns("a pod asks for", comparison);
  for (const std::string& size : sizes_of(comparison)) {
    std::vector<page::Cell> row{{page::escape(size)}};
    for (const PolicyRuns& policy : comparison.policies) {
      row.push_back(wait_of_size(policy, size));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

page::Plot plot_of(const Comparison& comparison, double longest) {
  page::Plot plot;
  plot.title = "Pods that waited no longer than a time";
  plot.about = "Share of pods that waited no longer than a time; the table has the figures";
  plot.x = {.label = "waited at most (logarithmic; the left edge is a second or less)",
            .durations = true};
  plot.y = "% of pods";
  double least = 100;
  for (const PolicyRuns& policy : comparison.policies) {
    const std::vector<double> waits = pooled_waits(policy);
    if (waits.empty()) continue;
    page::Line line = policy_line(policy, {});
    line.points = distribution(waits, longest);
    least = std::min(least, line.points.front().y);
    plot.lines.push_back(std::move(line));
  }
  plot.range = {std::floor(least / 10) * 10, 100};
  return plot;
}

}  // namespace

void write_waits(std::ostream& out, const Comparison& comparison) {
  double longest = 0;
  for (const PolicyRuns& policy : comparison.policies) {
    for (const Result* run : policy.runs) {
      if (!run->waits.empty()) longest = std::max(longest, run->waits.back());
    }
  }
  if (!comparison.over_time) return;
  constexpr double kSecond = 1;
  out << "<h3>How long pods waited</h3>\n";
  if (longest < kSecond) {
    out << "<p>No pod waited: each was placed, or refused, as soon as it came.</p>\n";
    return;
  }
  const page::Table sizes = by_size(comparison);
  if (!sizes.rows.empty()) page::write_table(out, sizes);
  out << "<div class=\"plots\">\n";
  page::write_plot(out, plot_of(comparison, longest));
  out << "</div>\n";
  page::write_table(out, quantiles(comparison));
}

}  // namespace bench::replay
