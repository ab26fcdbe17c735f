#include "bench/replay/report/page/plot.h"

#include "bench/replay/report/page/path.h"
#include "bench/replay/report/page/text.h"

#include <fmt/core.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace bench::replay::page {
namespace {

// The SVG's own units: fine enough to read values with a precision of a hundredth of a percent.
constexpr double kUnits = 10000;
// The tolerances of lines, from which values are read, and of areas and bands, which are only seen.
constexpr double kLineTolerance = 1;
constexpr double kShapeTolerance = 10;

// The place of a value between the ends of its axis, 0 … 1.
double place(const Axis& axis, double value) {
  if (!axis.logarithmic) return (value - axis.from) / (axis.to - axis.from);
  const double least = std::max(value, axis.from);
  return std::log(least / axis.from) / std::log(axis.to / axis.from);
}

Dot dot_of(const Plot& plot, const Point& point) {
  return {std::lround(place(plot.x, point.x) * kUnits),
          std::lround((1 - place(plot.y, point.y)) * kUnits)};
}

std::vector<Dot> dots_of(const Plot& plot, const std::vector<Point>& points) {
  std::vector<Dot> dots;
  dots.reserve(points.size());
  for (const Point& point : points) dots.push_back(dot_of(plot, point));
  return dots;
}

void write_grid(std::ostream& out, const Plot& plot) {
  std::string path;
  for (const Tick& tick : plot.x.ticks) {
    path += fmt::format("M{} 0V{:.0f}", std::lround(place(plot.x, tick.at) * kUnits), kUnits);
  }
  for (const Tick& tick : plot.y.ticks) {
    path += fmt::format("M0 {}H{:.0f}", std::lround((1 - place(plot.y, tick.at)) * kUnits), kUnits);
  }
  fmt::print(out, "<path class=\"grid\" d=\"{}\"/>", path);
}

void write_area(std::ostream& out, const Plot& plot, const Area& area) {
  if (area.points.empty()) return;
  const std::vector<Dot> dots = simplified(dots_of(plot, area.points), kShapeTolerance);
  fmt::print(out, "<path class=\"area {}\" data-n=\"{}\" d=\"{}V{:.0f}H{}z\"/>", area.style,
             escape(area.name), path_through(dots), kUnits, dots.front().x);
}

// One edge of the band around a line, `sign` deviations away from it.
std::vector<Dot> band_edge(const Plot& plot, const Line& line, double sign) {
  std::vector<Point> edge = line.points;
  for (std::size_t i = 0; i < edge.size(); ++i) edge[i].y += sign * line.deviations[i];
  return simplified(dots_of(plot, edge), kShapeTolerance);
}

void write_band(std::ostream& out, const Plot& plot, const Line& line) {
  if (line.deviations.empty()) return;
  std::vector<Dot> outline = band_edge(plot, line, 1);
  const std::vector<Dot> lower = band_edge(plot, line, -1);
  outline.insert(outline.end(), lower.rbegin(), lower.rend());
  fmt::print(out, "<path class=\"band {}\" d=\"{}z\"/>", line.style, path_through(outline));
}

void write_line(std::ostream& out, const Plot& plot, const Line& line) {
  if (line.points.empty()) return;
  fmt::print(out, "<path class=\"line {}\" data-n=\"{}\" d=\"{}\"/>", line.style, escape(line.name),
             path_through(dots_of(plot, line.points)));
}

// Lines of no length with round ends stay round when the SVG is stretched.
void write_marks(std::ostream& out, const Plot& plot, const Line& line) {
  if (!line.marked) return;
  constexpr std::size_t kMarks = 12;
  const std::size_t every = std::max<std::size_t>(1, line.points.size() / kMarks);
  std::string path;
  for (std::size_t i = 0; i < line.points.size(); i += every) {
    const Dot dot = dot_of(plot, line.points[i]);
    path += fmt::format("M{} {}h0", dot.x, dot.y);
  }
  fmt::print(out, "<path class=\"marks {}\" d=\"{}\"/>", line.style, path);
}

void write_ticks(std::ostream& out, const Axis& axis, const char* style) {
  for (const Tick& tick : axis.ticks) {
    fmt::print(out, "<i class=\"{}\" style=\"--at:{:.2f}\">{}</i>", style,
               100 * place(axis, tick.at), escape(tick.text));
  }
}

// The smallest of 1, 2, 2.5, 5 · 10^n that is at least `step`.
double round_step(double step) {
  const double power = std::pow(10, std::floor(std::log10(step)));
  for (const double factor : {1.0, 2.0, 2.5, 5.0}) {
    if (factor * power >= step * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

int decimals_for(double step) {
  for (int decimals = 0; decimals < 4; ++decimals) {
    const double scaled = step * std::pow(10, decimals);
    if (std::abs(scaled - std::round(scaled)) < 1e-6) return decimals;
  }
  return 4;
}

}  // namespace

Axis linear_axis(std::string label, double from, double to, bool rounded, int ticks) {
  Axis axis;
  axis.label = std::move(label);
  if (!(to > from)) to = from + 1;
  const double step = round_step((to - from) / ticks);
  axis.from = rounded ? std::floor(from / step + 1e-9) * step : from;
  axis.to = rounded ? std::ceil(to / step - 1e-9) * step : to;
  const int decimals = decimals_for(step);
  for (long i = std::lround(std::ceil(axis.from / step - 1e-9));; ++i) {
    const double at = static_cast<double>(i) * step;
    if (at > axis.to + step * 1e-6) break;
    axis.ticks.push_back({at, number(at, decimals)});
  }
  const bool round_end = decimals_for(axis.to) <= decimals;
  if (round_end && !axis.ticks.empty() && axis.to - axis.ticks.back().at > 0.45 * step) {
    axis.ticks.push_back({axis.to, number(axis.to, decimals)});
  }
  return axis;
}

Axis hours_axis(double to, int ticks) {
  constexpr double kHoursOfDay = 24;
  constexpr double kMostHours = 96;
  if (to <= kMostHours) return linear_axis("hours since the start", 0, to, false, ticks);
  Axis axis = linear_axis("days since the start", 0, to / kHoursOfDay, false, ticks);
  axis.to = to;
  axis.unit = kHoursOfDay;
  for (Tick& tick : axis.ticks) tick.at *= kHoursOfDay;
  return axis;
}

Axis duration_axis(std::string label, double longest) {
  constexpr std::array<double, 11> kMarks{
      1, 10, 60, 600, 3600, 6 * 3600, 86400, 5 * 86400, 30 * 86400.0, 120 * 86400.0, 365 * 86400.0};
  Axis axis;
  axis.label = std::move(label);
  axis.from = 1;
  axis.to = std::max(longest, 10.0);
  axis.logarithmic = true;
  for (const double mark : kMarks) {
    if (mark <= axis.to) axis.ticks.push_back({mark, duration(mark)});
  }
  return axis;
}

void write_plot(std::ostream& out, const Plot& plot) {
  fmt::print(out,
             "<figure class=\"plot{}\"><figcaption>{}</figcaption><div class=\"unit\">{}</div>",
             plot.small ? " small" : "", plot.title, escape(plot.y.label));
  fmt::print(out,
             "<div class=\"frame\" data-x=\"{} {}{}\" data-y=\"{} {}\"><svg role=\"img\" "
             "aria-label=\"{}\" viewBox=\"0 0 {} {}\" preserveAspectRatio=\"none\">",
             plot.x.from / plot.x.unit, plot.x.to / plot.x.unit, plot.x.logarithmic ? " log" : "",
             plot.y.from, plot.y.to, escape(plot.about), kUnits, kUnits);
  write_grid(out, plot);
  for (const Area& area : plot.areas) write_area(out, plot, area);
  for (const Line& line : plot.lines) write_band(out, plot, line);
  for (const Line& line : plot.lines) write_line(out, plot, line);
  for (const Line& line : plot.lines) write_marks(out, plot, line);
  out << "</svg>";
  write_ticks(out, plot.x, "x");
  write_ticks(out, plot.y, "y");
  fmt::print(out, "</div><div class=\"unit x\">{}</div></figure>\n", escape(plot.x.label));
}

}  // namespace bench::replay::page
