// The named figures of a run: for the table, for summary.json and for --fail-if. Their meanings are
// in bench/replay/README.md.
#pragma once

#include "bench/replay/result.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench::replay {

struct Figure {
  std::string_view name;
  std::string_view unit;  // "%", "s", "" for counts
  std::string_view meaning;
};

// All figures, in the order in which they should be read.
[[nodiscard]] const std::vector<Figure>& all_figures();
[[nodiscard]] bool is_figure(std::string_view name);

// The input of figures: counts of the pods that came in the window, and the levels at the end or on
// average over the window.
struct Outcome {
  std::size_t arrived_pods = 0;
  std::size_t placed_pods = 0;
  std::size_t refused_pods = 0;
  std::size_t waiting_pods = 0;
  std::int64_t asked = 0;    // thousandths of a GPU
  std::int64_t refused = 0;  // of it
  std::int64_t waiting = 0;  // of it
  std::int64_t capacity = 0;
  Step levels;
  // Over time only, for the whole window.
  struct Time {
    double hours = 0;             // of the window
    double gpu_hours_waited = 0;  // of all that waited in it, whenever they came
    double gpu_hours = 0;         // that the cluster had
  };
  std::optional<Time> time = {};
};

// `waits`: seconds, sorted; over time only. `steps`: of a run in which no pod leaves, else empty.
[[nodiscard]] std::map<std::string, double> figures_of(const Outcome& outcome,
                                                       const std::vector<double>& waits,
                                                       const std::vector<Step>& steps);

}  // namespace bench::replay
