// Plots as SVG inside HTML, without a library.
//
// The curves are an SVG that is stretched to the width of the page; line widths do not stretch with
// it (vector-effect), and tick labels are HTML placed by percentages. So one plot serves a phone, a
// desktop and a printer, its text stays text of normal size, and it works without any script.
// plots.js reads the points from the paths to show values under the pointer.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace bench::replay::page {

struct Tick {
  double at = 0;
  std::string text;
};

struct Axis {
  std::string label;  // with the unit
  double from = 0;
  double to = 1;  // > from
  std::vector<Tick> ticks;
  bool logarithmic = false;  // from > 0
  double unit = 1;           // a day on an axis of hours: the unit of the label, in values
};

// About `ticks` ticks at round values. The range is unchanged, and its end labelled if that is
// round and there is room; or with `rounded` it is widened to ticks.
[[nodiscard]] Axis linear_axis(std::string label, double from, double to, bool rounded,
                               int ticks = 7);
// From 0 to `to` hours, in days if there are many.
[[nodiscard]] Axis hours_axis(double to, int ticks);
// Seconds from one to `longest`, logarithmic.
[[nodiscard]] Axis duration_axis(std::string label, double longest);

struct Point {
  double x = 0;
  double y = 0;
};

struct Line {
  std::string name;                     // shown with the value under the pointer
  std::string style;                    // CSS classes: "p3", "p3 published"
  std::vector<Point> points = {};       // x ascending
  std::vector<double> deviations = {};  // empty, or one per point: a band of ± that
  bool marked = false;                  // with round marks, if colours alone do not distinguish
};

// Filled down to the axis; later areas cover earlier ones.
struct Area {
  std::string name;
  std::string style;
  std::vector<Point> points;
};

struct Plot {
  std::string title;  // HTML
  std::string about;  // for screen readers; plain text
  Axis x;
  Axis y;
  std::vector<Area> areas;
  std::vector<Line> lines;
  bool small = false;
};

void write_plot(std::ostream& out, const Plot& plot);

}  // namespace bench::replay::page
