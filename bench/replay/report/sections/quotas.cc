#include "bench/replay/report/page/text.h"
#include "bench/replay/report/page/words.h"
#include "bench/replay/report/sections/sections.h"

#include <fmt/core.h>

#include <algorithm>
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

page::Line curve(const Result& run, const LineName& line, double QuotaStep::*amount) {
  page::Line drawn;
  for (const QuotaStep& step : run.quota_steps) {
    if (step.quota != line.first || step.gpu_type != line.second) continue;
    drawn.points.push_back({step.x, step.*amount});
  }
  return drawn;
}

page::Line policy_curve(const PolicyRuns& policy, const LineName& line, double QuotaStep::*amount,
                        const char* what) {
  page::Line drawn = curve(*policy.runs.front(), line, amount);
  drawn.name = page::policy_words(policy.name) + what;
  drawn.policy = policy.index;
  drawn.hue = policy.index % kPolicyColours;
  return drawn;
}

// One line of a quota: what is guaranteed, and what the policies' first seeds used.
void write_line(std::ostream& out, const Comparison& comparison, const LineName& line) {
  page::Plot plot;
  plot.title = fmt::format("{}: {}", page::escape(line.first), page::escape(line.second));
  plot.small = true;
  const Result& first = *comparison.policies.front().runs.front();
  plot.lines.push_back(curve(first, line, &QuotaStep::guaranteed));
  plot.lines.back().name = "guaranteed";
  for (const PolicyRuns& policy : comparison.policies) {
    plot.lines.push_back(policy_curve(policy, line, &QuotaStep::used, ", used"));
    plot.lines.push_back(policy_curve(policy, line, &QuotaStep::pending, ", waited for"));
    plot.lines.back().dashed = true;
  }
  plot.about = fmt::format("GPUs of quota {}, type {}, used and asked for by waiting pods",
                           line.first, line.second);
  plot.x = comparison.over_time ? page::hours_axis(first.quota_steps.back().x)
                                : page::Axis{.label = "pods that came"};
  plot.y = "GPUs";
  if (!page::is_empty(plot)) page::write_plot(out, plot);
}

struct Means {
  double used = 0;
  double borrowed = 0;
  double lent = 0;
  double pending = 0;
};

// Each step holds until the next one: where nothing happens, there is none for a long time.
Means means_of(const Result& run, const LineName& line) {
  Means sum;
  double all = 0;
  const QuotaStep* before = nullptr;
  const auto add = [&](const QuotaStep& step, double width) {
    sum.used += step.used * width;
    sum.borrowed += step.borrowed * width;
    sum.lent += step.lent * width;
    sum.pending += step.pending * width;
    all += width;
  };
  for (const QuotaStep& step : run.quota_steps) {
    if (step.quota != line.first || step.gpu_type != line.second) continue;
    if (before != nullptr) add(*before, step.x - before->x);
    before = &step;
  }
  if (before != nullptr && all <= 0) add(*before, 1);
  if (all <= 0) return sum;
  return {sum.used / all, sum.borrowed / all, sum.lent / all, sum.pending / all};
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
  out << "<p>Solid lines: GPUs used; dashed ones: GPUs that pods wait for; grey: guaranteed.</p>\n"
         "<div class=\"plots many\">\n";
  constexpr std::size_t kMost = 12;
  for (std::size_t i = 0; i < std::min(lines.size(), kMost); ++i) {
    write_line(out, comparison, lines[i]);
  }
  out << "</div>\n";
  if (lines.size() <= kMost) return;
  out << "<p class=\"note\">" << page::count(lines.size() - kMost)
      << " further lines are in quotas.csv alone.</p>\n";
}

}  // namespace bench::replay
