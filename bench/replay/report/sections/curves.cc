#include "bench/replay/report/page/text.h"
#include "bench/replay/report/page/words.h"
#include "bench/replay/report/sections/sections.h"

#include <fmt/core.h>
#include <fmt/ostream.h>

#include <algorithm>
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

// "FGD" → "fragmentation gradient descent".
std::string published_words(const std::string& policy) {
  const std::string_view ours = policy_published_as(policy);
  return page::policy_words(ours.empty() ? std::string_view(policy) : ours) + ", published";
}

page::Line published_line(const PublishedCurve& curve, const PolicyRuns* policy, bool unallocated) {
  page::Line line{.name = published_words(curve.policy)};
  line.dashed = true;
  if (policy != nullptr) {
    line.policy = policy->index;
    line.hue = policy->index % kPolicyColours;
  }
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
    lines.push_back(published_line(*curve, &policy, unallocated));
  }
  const PublishedCurve* reference = published_curve(comparison, kReference);
  if (reference != nullptr && !has_reference) {
    lines.push_back(published_line(*reference, nullptr, unallocated));
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
    const Spread end = at_end(policy, figure);
    if (end.runs == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", page::policy_words(policy.name),
                        page::number(end.mean, 2));
  }
  return text;
}

double allocated(const Step& step) { return step.allocated; }
double unallocated(const Step& step) { return 100 - step.allocated; }

void append(std::vector<page::Line>& lines, std::vector<page::Line> more) {
  for (page::Line& line : more) lines.push_back(std::move(line));
}

page::Plot allocation(const Comparison& comparison) {
  page::Plot plot;
  plot.title = comparison.over_time ? "Allocated GPU over time" : "Allocated GPU";
  plot.about = "Allocated at the end, % of GPUs: " + endings(comparison, allocated);
  plot.x = step_axis(comparison);
  plot.y = "allocated, % of GPUs";
  plot.range = {0, 100};
  plot.lines = published_lines(comparison, false);
  append(plot.lines, policy_lines(comparison, allocated));
  return plot;
}

// Where policies differ if no pod leaves.
page::Plot last_stretch(const Comparison& comparison) {
  page::Plot plot;
  plot.title = "Unallocated GPU, the last stretch";
  plot.about = "Unallocated at the end, % of GPUs: " + endings(comparison, unallocated);
  plot.x = step_axis(comparison);
  plot.y = "unallocated, % of GPUs";
  plot.lines = published_lines(comparison, true);
  append(plot.lines, policy_lines(comparison, unallocated));
  cut_before(plot.lines, kZoomFrom);
  plot.range = y_range(plot.lines);
  return plot;
}

// A figure of the steps that starts from zero.
page::Plot growth(const Comparison& comparison, const std::string& title, const std::string& unit,
                  const StepFigure& figure) {
  page::Plot plot;
  plot.lines = policy_lines(comparison, figure);
  plot.title = title;
  plot.about = fmt::format("{} at the end, {}: {}", title, unit, endings(comparison, figure));
  plot.x = step_axis(comparison);
  plot.y = unit;
  return plot;
}

std::vector<page::Plot> plots_of(const Comparison& comparison) {
  std::vector<page::Plot> plots{allocation(comparison)};
  if (!comparison.over_time && last_x(comparison) > kZoomFrom + 2) {
    plots.push_back(last_stretch(comparison));
  }
  plots.push_back(growth(comparison, "Waiting pods", "pods",
                         [](const Step& step) { return static_cast<double>(step.waiting); }));
  plots.push_back(growth(comparison, "Refused GPU", "refused, % of the GPU asked for so far",
                         [](const Step& step) { return step.refused; }));
  plots.push_back(growth(comparison, "Fragmented GPU",
                         "free but of no use to typical pods, % of GPUs", &Step::fragmented));
  return plots;
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
    const double x = last_x(comparison) * i / kRows;
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

page::Axis step_axis(const Comparison& comparison) {
  return comparison.over_time ? page::hours_axis(last_x(comparison))
                              : page::Axis{.label = "GPU asked for so far, % of GPUs"};
}

void write_curves(std::ostream& out, const Comparison& comparison, std::size_t most_points) {
  if (last_x(comparison) <= 0) return;
  out << "<h3>How full the cluster was</h3>\n";
  write_legend(out, comparison, comparison.has_published_curves());
  out << "<div class=\"plots\">\n";
  for (page::Plot& plot : plots_of(comparison)) {
    if (page::is_empty(plot)) continue;
    plot.most_points = most_points;
    page::write_plot(out, plot);
  }
  out << "</div>\n";
  page::write_folded_table(out, "Allocation as a table", curve_table(comparison));
}

}  // namespace bench::replay
