#include "bench/replay/report/page/text.h"
#include "bench/replay/report/page/words.h"
#include "bench/replay/report/sections/sections.h"

#include <fmt/core.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace bench::replay {
namespace {

struct CauseText {
  Cause cause;
  std::string_view text;
};

// From the axis upwards. What is usable is not fragmented and not drawn.
constexpr std::array<CauseText, kCauses - 1> kStack{{
    {Cause::kLackGpu, "too few GPUs are large enough"},
    {Cause::kLackCpu, "GPU is enough, CPU is not"},
    {Cause::kLackBoth, "neither GPU nor CPU is enough"},
    {Cause::kNoGpuAsked, "the pod asks for no GPU"},
    {Cause::kNoGpuAskedCpu, "the pod asks for no GPU, and CPU is not enough"},
    {Cause::kNoAccess, "the pod must not use this GPU model"},
}};

double share(const Step& step, Cause cause) {
  return step.free_by_cause[static_cast<std::size_t>(cause)];
}

// The sum of the stack up to its `level`-th part.
double stacked(const Step& step, std::size_t level) {
  double sum = 0;
  for (std::size_t i = 0; i <= level; ++i) sum += share(step, kStack[i].cause);
  return sum;
}

double most_fragmented(const Comparison& comparison) {
  double most = 0;
  for (const PolicyRuns& policy : comparison.policies) {
    const Curve curve = mean_curve(policy, &Step::fragmented);
    for (const CurvePoint& point : curve) most = std::max(most, point.y.mean);
  }
  return most;
}

std::vector<page::Point> points_of(const Curve& curve) {
  std::vector<page::Point> points;
  for (const CurvePoint& point : curve) points.push_back({point.x, point.y.mean});
  return points;
}

// The levels of the stack that are not empty throughout.
std::vector<std::size_t> levels_of(const Comparison& comparison) {
  std::vector<std::size_t> levels;
  for (std::size_t level = 0; level < kStack.size(); ++level) {
    const auto occurs = [&](const Result* run) {
      return std::any_of(run->steps.begin(), run->steps.end(),
                         [&](const Step& step) { return share(step, kStack[level].cause) > 0; });
    };
    const bool any = std::any_of(
        comparison.policies.begin(), comparison.policies.end(),
        [&](const PolicyRuns& p) { return std::any_of(p.runs.begin(), p.runs.end(), occurs); });
    if (any) levels.push_back(level);
  }
  return levels;
}

// Of palette.css, by level of the stack: neighbours differ.
constexpr std::array<std::size_t, kCauses - 1> kHues{0, 1, 3, 4, 2, 6};

page::Plot stack_of(const PolicyRuns& policy, const std::vector<std::size_t>& levels) {
  const Spread total = at_end(policy, &Step::fragmented);
  page::Plot plot;
  plot.small = true;
  plot.stacked = true;
  plot.title = policy_name_html(policy);
  plot.y = "fragmented, % of GPUs";
  if (total.runs == 0) return plot;
  plot.about = fmt::format("{}: fragmented at the end {} % of GPUs",
                           page::policy_words(policy.name), page::number(total.mean, 2));
  for (std::size_t i = levels.size(); i-- > 0;) {
    const std::size_t level = levels[i];
    const Curve curve = mean_curve(policy, [&](const Step& step) { return stacked(step, level); });
    page::Line line{.name = std::string(kStack[level].text), .hue = kHues[level]};
    line.points = points_of(curve);
    plot.lines.push_back(std::move(line));
  }
  return plot;
}

void write_cause_legend(std::ostream& out, const std::vector<std::size_t>& levels) {
  out << "<div class=\"legend\">";
  for (std::size_t i = levels.size(); i-- > 0;) {
    fmt::print(out, "<span class=\"h{}\"><b class=\"key solid\"></b>{}</span>", kHues[levels[i]],
               kStack[levels[i]].text);
  }
  out << "</div>\n";
}

page::Table table_at_the_end(const Comparison& comparison) {
  page::Table table;
  table.caption = "At the end, % of GPUs";
  table.columns = {"policy", "free", "usable"};
  for (const CauseText& part : kStack) table.columns.emplace_back(part.text);
  for (const PolicyRuns& policy : comparison.policies) {
    const auto cell = [&](const std::function<double(const Step&)>& figure) -> page::Cell {
      const Spread end = at_end(policy, figure);
      return {end.runs == 0 ? "–" : page::spread(end, 2)};
    };
    std::vector<page::Cell> row{{policy_name_html(policy)}};
    row.push_back(cell([](const Step& step) { return 100 - step.allocated; }));
    row.push_back(cell([](const Step& step) { return share(step, Cause::kSatisfied); }));
    for (const CauseText& part : kStack) {
      row.push_back(cell([&](const Step& step) { return share(step, part.cause); }));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

void write_fragmentation(std::ostream& out, const Comparison& comparison, std::size_t most_points) {
  const double most = most_fragmented(comparison);
  if (most <= 0) return;
  out << "<h3>Why free GPU is of no use</h3>\n<p>Free GPU that the typical pods of the trace "
         "cannot "
         "use, and why. Free GPU that they can use is not drawn.</p>\n";
  const std::vector<std::size_t> levels = levels_of(comparison);
  write_cause_legend(out, levels);
  out << "<div class=\"plots many\">\n";
  for (const PolicyRuns& policy : comparison.policies) {
    page::Plot plot = stack_of(policy, levels);
    if (page::is_empty(plot)) continue;
    plot.x = step_axis(comparison);
    plot.range = {0, most};
    plot.most_points = most_points;
    page::write_plot(out, plot);
  }
  out << "</div>\n";
  page::write_folded_table(out, "Fragmentation as a table", table_at_the_end(comparison));
}

}  // namespace bench::replay
