// SVG path data of curves, as short as possible without a visible difference.
#pragma once

#include <string>
#include <vector>

namespace bench::replay::page {

// A point in an SVG's own units; y grows downwards.
struct Dot {
  long x = 0;
  long y = 0;
};

// Leaves out dots that are within `tolerance` (vertically) of the line between those kept (Ramer,
// Douglas and Peucker). x ascending or descending; the ends stay. O(n log n) on average.
[[nodiscard]] std::vector<Dot> simplified(const std::vector<Dot>& dots, double tolerance);

// Through the dots, relative after the first: "M0 9900l77-76 77-75".
[[nodiscard]] std::string path_through(const std::vector<Dot>& dots);

}  // namespace bench::replay::page
