// A study: runs, and the use of their results.
//
// The runs are made on all cores; then the table is printed, the files are written and --fail-if is
// evaluated. A study does not depend on where the runs come from (a trace, a recording).
#pragma once

#include "bench/replay/output/fail_if.h"
#include "bench/replay/output/folder.h"
#include "bench/replay/replay.h"
#include "bench/replay/result.h"
#include "bench/replay/trace/trace.h"
#include "k8s-client/error.h"

#include <atomic>
#include <cstddef>
#include <functional>
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

namespace bench::replay {

// Called once, on any thread.
struct PlannedRun {
  std::string name;  // "fgd on openb_pod_list_default, seed 42"
  std::function<k8s::Result<Result>()> run;
};

struct Study {
  std::vector<PlannedRun> runs;
  const std::vector<Trace>& traces;
  const std::vector<Condition>& fail_if;
  // The arguments, for summary.json.
  std::vector<std::pair<std::string, std::string>> options;
};

// The exit code. The first error of a run ends the study and names the run, and nothing is written.
// When `stop` becomes true the unfinished runs are left out, with a note.
[[nodiscard]] int carry_out(const Study& study, const ReplayOptions& options, OutputFolder& folder,
                            std::ostream& out, std::ostream& complaints,
                            const std::atomic<bool>& stop);

// Prints what is wrong with the arguments; kUnusable.
[[nodiscard]] int unusable(std::ostream& complaints, const k8s::Error& error);

}  // namespace bench::replay
