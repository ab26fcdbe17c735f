#include "bench/replay/report/page/text.h"
#include "bench/replay/report/sections/sections.h"

#include <fmt/core.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

namespace bench::replay {
namespace {

using StepFigure = std::function<double(const Step&)>;

// The last part of arrival, where policies differ.
constexpr double kZoomFrom = 90;
// The published policy that is drawn for reference even if it was not run.
constexpr std::string_view kReference = "FGD";

double last_x(const Comparison& comparison) {
  double last = 0;
  for (const PolicyRuns& policy : comparison.policies) {
    for (const Result* run : policy.runs) {
      if (!run->steps.empty()) last = std::max(last, run->steps.back().x);
    }
  }
  return last;
}

std::vector<page::Line> policy_lines(const Comparison& comparison, const StepFigure& figure) {
  std::vector<page::Line> lines;
  for (const PolicyRuns& policy : comparison.policies) {
    lines.push_back(policy_line(policy, mean_curve(policy, figure)));
  }
  return lines;
}

page::Line published_line(const PublishedCurve& curve, const std::string& style, bool unallocated) {
  page::Line line{.name = curve.policy + ", published", .style = style + " published"};
  for (std::size_t x = 0; x < curve.allocated.size(); ++x) {
    const double y = unallocated ? 100 - curve.allocated[x] : curve.allocated[x];
    line.points.push_back({static_cast<double>(x), y});
  }
  return line;
}

// Those of the policies that were run, and the reference.
std::vector<page::Line> published_lines(const Comparison& comparison, bool unallocated) {
  std::vector<page::Line> lines;
  bool has_reference = false;
  for (const PolicyRuns& policy : comparison.policies) {
    const std::string_view name = published_name(policy.name);
    const PublishedCurve* curve = name.empty() ? nullptr : published_curve(comparison, name);
    if (curve == nullptr) continue;
    has_reference = has_reference || name == kReference;
    lines.push_back(published_line(*curve, policy_style(policy), unallocated));
  }
  const PublishedCurve* reference = published_curve(comparison, kReference);
  if (reference != nullptr && !has_reference) {
    lines.push_back(published_line(*reference, "reference", unallocated));
  }
  return lines;
}

// Leaves out what is before `from`, so that the y axis covers what is visible.
void cut_before(std::vector<page::Line>& lines, double from) {
  for (page::Line& line : lines) {
    const auto first = std::find_if(line.points.begin(), line.points.end(),
                                    [&](const page::Point& p) { return p.x >= from; });
    const auto gone = first - line.points.begin();
    line.points.erase(line.points.begin(), first);
    if (!line.deviations.empty()) {
      line.deviations.erase(line.deviations.begin(), line.deviations.begin() + gone);
    }
  }
}

std::pair<double, double> y_range(const std::vector<page::Line>& lines) {
  double least = 0;
  double most = 0;
  bool first = true;
  for (const page::Line& line : lines) {
    for (const page::Point& point : line.points) {
      least = first ? point.y : std::min(least, point.y);
      most = first ? point.y : std::max(most, point.y);
      first = false;
    }
  }
  return {least, most};
}

std::string endings(const Comparison& comparison, const StepFigure& figure) {
  std::string text;
  for (const PolicyRuns& policy : comparison.policies) {
    const Curve curve = mean_curve(policy, figure);
    if (curve.empty()) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", policy.name,
                        page::number(curve.back().y.mean, 2));
  }
  return text;
}

double allocated(const Step& step) { return step.allocated; }
double unallocated(const Step& step) { return 100 - step.allocated; }

void append(std::vector<page::Line>& lines, std::vector<page::Line> more) {
  for (page::Line& line : more) lines.push_back(std::move(line));
}

void write_allocation(std::ostream& out, const Comparison& comparison) {
  page::Plot plot;
  plot.title = comparison.over_time ? "Allocated GPU over time" : "Allocated GPU against arrival";
  plot.about = "Allocated at the end, % of GPUs: " + endings(comparison, allocated);
  plot.x = step_axis(comparison);
  plot.y = page::linear_axis("allocated, % of GPUs", 0, 100, true);
  plot.lines = published_lines(comparison, false);
  append(plot.lines, policy_lines(comparison, allocated));
  page::write_plot(out, plot);
}

void write_unallocated(std::ostream& out, const Comparison& comparison) {
  const bool zoomed = !comparison.over_time && last_x(comparison) > kZoomFrom + 2;
  const double from = zoomed ? kZoomFrom : 0;
  page::Plot plot;
  plot.title = zoomed ? "Unallocated GPU, the last stretch" : "Unallocated GPU";
  plot.about = "Unallocated at the end, % of GPUs: " + endings(comparison, unallocated);
  plot.x = step_axis(comparison, from);
  plot.lines = published_lines(comparison, true);
  append(plot.lines, policy_lines(comparison, unallocated));
  cut_before(plot.lines, from);
  const auto [least, most] = y_range(plot.lines);
  plot.y = page::linear_axis("unallocated, % of GPUs", zoomed ? least : 0, most, true);
  page::write_plot(out, plot);
}

// A figure of the steps that starts from zero; left out if it is zero throughout.
void write_growth(std::ostream& out, const Comparison& comparison, const std::string& title,
                  const std::string& unit, const StepFigure& figure) {
  page::Plot plot;
  plot.lines = policy_lines(comparison, figure);
  const double most = y_range(plot.lines).second;
  if (most <= 0) return;
  plot.title = title;
  plot.about = fmt::format("{} at the end, {}: {}", title, unit, endings(comparison, figure));
  plot.x = step_axis(comparison);
  plot.y = page::linear_axis(unit, 0, most, true);
  page::write_plot(out, plot);
}

// The curves as figures: about a dozen rows.
page::Table curve_table(const Comparison& comparison) {
  const page::Axis axis = step_axis(comparison);
  page::Table table;
  table.caption = "Allocated, % of GPUs";
  table.columns = policy_columns(axis.label, comparison);
  std::vector<Curve> curves;
  for (const PolicyRuns& policy : comparison.policies) {
    curves.push_back(mean_curve(policy, allocated));
  }
  constexpr int kRows = 13;
  for (int i = 1; i <= kRows; ++i) {
    const double x = axis.to * i / kRows;
    std::vector<page::Cell> row{{page::number(x / axis.unit, comparison.over_time ? 1 : 0)}};
    for (const Curve& curve : curves) {
      const auto at = std::find_if(curve.begin(), curve.end(),
                                   [&](const CurvePoint& p) { return p.x >= x - 1e-6; });
      row.push_back({at == curve.end() ? "–" : page::spread(at->y, 2)});
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

page::Axis step_axis(const Comparison& comparison, double from, int ticks) {
  const double last = last_x(comparison);
  return comparison.over_time ? page::hours_axis(last, ticks)
                              : page::linear_axis("arrived, % of GPUs", from, last, false, ticks);
}

void write_curves(std::ostream& out, const Comparison& comparison) {
  if (last_x(comparison) <= 0) return;
  out << "<h3>Allocation</h3>\n";
  write_legend(out, comparison, comparison.has_published_curves());
  out << "<div class=\"plots\">\n";
  write_allocation(out, comparison);
  write_unallocated(out, comparison);
  write_growth(out, comparison, "Fragmented GPU", "free but of no use to typical pods, % of GPUs",
               &Step::fragmented);
  write_growth(out, comparison, "Refused", "refused, % of GPU asked for",
               [](const Step& step) { return step.refused; });
  write_growth(out, comparison, "Waiting pods", "pods",
               [](const Step& step) { return static_cast<double>(step.waiting); });
  out << "</div>\n";
  page::write_folded_table(out, "Allocation as a table", curve_table(comparison));
}

}  // namespace bench::replay
