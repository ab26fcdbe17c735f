// The figures of `bench decide` as text: a table for people, JSON for programs.
//
// Each kind of run has its columns and its JSON fields in report.cc; decide.cc measures.
#pragma once

#include "bench/decide/crowd.h"
#include "bench/decide/figures.h"
#include "bench/decide/grouped.h"
#include "bench/decide/preempting.h"
#include "bench/decide/ruled.h"
#include "bench/decide/trials.h"

#include <cstddef>
#include <string>
#include <vector>

namespace bench::decide {

struct TrialRun {
  std::size_t nodes = 0;
  std::size_t shapes = 0;
  TrialFigures figures{};
};

struct RuledRun {
  std::size_t nodes = 0;
  std::size_t rule = 0;  // index in kRules
  std::size_t pods = 0;  // that came
  RuledFigures figures{};
};

struct CrowdRun {
  std::size_t nodes = 0;
  std::size_t crowd = 0;  // index in kCrowds
  CrowdFigures figures{};
};

struct PreemptingRun {
  std::size_t nodes = 0;
  std::size_t preemptor = 0;  // index in kPreemptors
  std::size_t pods = 0;       // that came
  PreemptingFigures figures{};
};

struct GroupedRun {
  std::size_t nodes = 0;
  std::size_t kind = 0;    // index in kGroupKinds
  std::size_t groups = 0;  // that came
  GroupedFigures figures{};
};

// A `Run` is Figures (pods that come and go), TrialRun, RuledRun, CrowdRun, PreemptingRun or
// GroupedRun.

// A row for each run; "" for none.
template <typename Run>
[[nodiscard]] std::string to_table(const std::vector<Run>& runs);

// {"compiler": …, "runs": […]}: the compiler affects the figures as much as the machine does.
template <typename Run>
[[nodiscard]] std::string to_json(const std::vector<Run>& runs);

// What was measured, and how fast it was: the first four columns, on a line. A table is printed
// when all runs are done; this shows each one at once.
template <typename Run>
[[nodiscard]] std::string to_line(const Run& run);

}  // namespace bench::decide
