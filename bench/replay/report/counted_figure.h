// The figure that counts: which of two policies did better on a trace, and whether the difference
// is more than chance.
//
// Where pods wait for room, all of them are placed in the end, and the GPUs are allocated as long
// under one policy as under another: what differs is how long how many GPUs were waited for. Where
// pods are refused, it is how much GPU stays unallocated.
#pragma once

#include "bench/replay/report/comparison.h"

#include <string>
#include <string_view>
#include <vector>

namespace bench::replay {

struct CountedFigure {
  std::string_view name;   // for --fail-if
  std::string_view title;  // with the unit
  int decimals;

  friend bool operator==(const CountedFigure& a, const CountedFigure& b) {
    return a.name == b.name;
  }
};

inline constexpr CountedFigure kGpuHoursWaited{"gpu_hours_waited", "GPU-hours waited", 0};
inline constexpr CountedFigure kUnallocated{"unallocated", "unallocated, % of GPUs", 2};

[[nodiscard]] CountedFigure counted_figure(const Comparison& comparison);

// Whether every pod got its node as soon as it came, under every policy.
[[nodiscard]] bool all_placed_at_once(const Comparison& comparison);

// "12,405 ± 1,947": as every part of the page has it.
[[nodiscard]] std::string figure_text(const PolicyRuns& policy, const CountedFigure& figure);

struct Ranking {
  CountedFigure figure = kUnallocated;
  std::vector<const PolicyRuns*> ranked;  // that have the figure; the best first
  // How many of them are not clearly behind the first: the means differ by no more than the larger
  // of the two standard deviations over seeds, or not as printed.
  std::size_t leaders = 0;
};

[[nodiscard]] Ranking ranking_of(const Comparison& comparison);

}  // namespace bench::replay
