#include "bench/replay/report/page/plot.h"

#include "bench/replay/report/page/text.h"

#include <fmt/core.h>
#include <fmt/ostream.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace bench::replay::page {
namespace {

using Json = nlohmann::ordered_json;

// Finer than a pixel, and short in the page.
double rounded(double value) { return std::round(value * 100) / 100; }

// The indices of the points that are written: evenly spaced, the last one always.
std::vector<std::size_t> kept_points(std::size_t points, std::size_t most) {
  const std::size_t every = (points + most - 1) / std::max<std::size_t>(1, most);
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < points; i += std::max<std::size_t>(1, every)) kept.push_back(i);
  if (!kept.empty() && kept.back() != points - 1) kept.push_back(points - 1);
  return kept;
}

// A line whose x are those of the line before it does not repeat them.
Json line_json(const Plot& plot, const Line& line, Json& last_x) {
  Json x = Json::array();
  Json y = Json::array();
  Json deviations = Json::array();
  for (const std::size_t i : kept_points(line.points.size(), plot.most_points)) {
    x.push_back(rounded(line.points[i].x / plot.x.unit));
    y.push_back(rounded(line.points[i].y));
    if (!line.deviations.empty()) deviations.push_back(rounded(line.deviations[i]));
  }
  Json json{{"name", line.name}};
  if (line.policy) json["policy"] = *line.policy;
  if (line.hue) json["hue"] = *line.hue;
  if (line.dashed) json["dash"] = {6, 4};
  if (line.dotted) json["dash"] = {2, 3};
  if (x != last_x) json["x"] = x;
  json["y"] = std::move(y);
  if (!deviations.empty()) json["deviations"] = std::move(deviations);
  last_x = std::move(x);
  return json;
}

Json plot_json(const Plot& plot) {
  Json json{{"x", plot.x.label}};
  if (plot.x.durations) json["durations"] = true;
  if (plot.range) json["range"] = {plot.range->first, plot.range->second};
  if (plot.stacked) json["stacked"] = true;
  json["lines"] = Json::array();
  Json last_x;
  for (const Line& line : plot.lines) {
    if (!line.points.empty()) json["lines"].push_back(line_json(plot, line, last_x));
  }
  return json;
}

}  // namespace

Axis hours_axis(double longest) {
  constexpr double kHoursOfDay = 24;
  constexpr double kMostHours = 96;
  if (longest <= kMostHours) return {.label = "hours since the start"};
  return {.label = "days since the start", .unit = kHoursOfDay};
}

bool is_empty(const Plot& plot) {
  const auto all = [&](double value) {
    return std::all_of(plot.lines.begin(), plot.lines.end(), [&](const Line& line) {
      return std::all_of(line.points.begin(), line.points.end(),
                         [&](const Point& point) { return rounded(point.y) == value; });
    });
  };
  return all(0) || all(100);
}

void write_plot(std::ostream& out, const Plot& plot) {
  fmt::print(out,
             "<figure class=\"plot{}\"><figcaption>{}</figcaption><div class=\"unit\">{}</div>"
             "<div class=\"plot-box\" role=\"img\" tabindex=\"0\" aria-label=\"{}\"></div>"
             "<div class=\"unit x\">{}</div><script type=\"application/json\">{}</script>"
             "</figure>\n",
             plot.small ? " small" : "", plot.title, escape(plot.y), escape(plot.about),
             escape(plot.x.label), json_text(plot_json(plot)));
}

}  // namespace bench::replay::page
