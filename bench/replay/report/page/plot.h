// Plots of the page, drawn by uPlot: here they are written as data, plots.js draws them.
//
// uPlot is the library of the live page, too (scheduler/server/ui/vendor). A plot has its figures
// in a table of its section as well, for readers without scripts.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bench::replay::page {

struct Axis {
  std::string label;       // with the unit
  bool durations = false;  // seconds, on a logarithmic axis
  double unit = 1;         // values are divided by it: 24 for hours on an axis of days
};

// Hours, or days if there are many.
[[nodiscard]] Axis hours_axis(double longest);

struct Point {
  double x = 0;
  double y = 0;
};

struct Line {
  std::string name;                        // shown with the value under the pointer
  std::optional<std::size_t> policy = {};  // its switch
  std::optional<std::size_t> hue = {};     // of palette.css; none: grey
  std::vector<Point> points = {};          // x ascending
  std::vector<double> deviations = {};     // empty, or one per point: a band of ± that
  bool dashed = false;
  bool dotted = false;  // if colours alone do not distinguish
};

struct Plot {
  std::string title;  // HTML
  std::string about;  // for screen readers; plain text
  Axis x;
  std::string y;  // the label of the y axis, with the unit
  // Of the y axis; none: from zero to the largest value.
  std::optional<std::pair<double, double>> range = {};
  std::vector<Line> lines;
  bool stacked = false;  // filled down to the axis, each line covers those before it
  bool small = false;
  std::size_t most_points = 400;  // of a line; further ones are left out evenly
};

// Whether it has anything to show: not if all values are 0, or all are 100.
[[nodiscard]] bool is_empty(const Plot& plot);

void write_plot(std::ostream& out, const Plot& plot);

}  // namespace bench::replay::page
