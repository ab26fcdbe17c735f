// Steps of a run over time: equal slices, over each of which the levels are averaged.
//
// A run may continue beyond the planned time, until all pods that came have left; then slices are
// merged two by two, so that there are never more than twice as many as asked for.
#pragma once

#include "bench/replay/account/levels.h"
#include "bench/replay/result.h"
#include "bench/replay/trace/trace.h"

#include <array>
#include <cstddef>
#include <vector>

namespace bench::replay {

// Levels × milliseconds.
struct LevelsOverTime {
  double milliseconds = 0;
  double capacity = 0;
  double allocated = 0;
  double waiting = 0;
  double waiting_gpu = 0;
  std::array<double, kCauses> free_by_cause{};

  void add(const Levels& levels, Moment duration);
  void add(const LevelsOverTime& other);
  // The averages: allocated and causes in percent of the GPUs, waiting in pods.
  [[nodiscard]] Step average() const;
  // How long it was, the GPUs × hours that the cluster had in it, and those that pods waited for.
  [[nodiscard]] double hours() const;
  [[nodiscard]] double gpu_hours() const;
  [[nodiscard]] double gpu_hours_waited() const;
};

class TimeSteps {
 public:
  static constexpr Moment::rep kSlices = 200;

  // `horizon`: the expected end of the run.
  explicit TimeSteps(Moment horizon);

  // The levels from `from`, the end of the previous call, to `to`.
  void add(const Levels& levels, Moment from, Moment to);
  [[nodiscard]] std::vector<Step> steps() const;

 private:
  struct Slice {
    LevelsOverTime sum;
    std::size_t arrivals = 0;  // at its end
    double refused = 0;        // at its end, % of what was asked for
  };
  void merge();

  Moment width_;
  std::vector<Slice> slices_;
};

}  // namespace bench::replay
