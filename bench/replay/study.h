// A study: runs, and the use of their results.
//
// The runs are made on all cores; then the table is printed, the files are written and --fail-if is
// evaluated. A study does not depend on where the runs come from (a trace, a recording). Of a large
// one a process may make a share only (shares/): then the results are stored, and presented when
// all shares are merged.
#pragma once

#include "bench/replay/output/fail_if.h"
#include "bench/replay/output/folder.h"
#include "bench/replay/replay.h"
#include "bench/replay/result.h"
#include "bench/replay/trace/trace.h"
#include "k8s-client/error.h"

#include <atomic>
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
  // What else the results depend on, for shares: the digest of each file and policy by its name.
  std::vector<std::pair<std::string, std::string>> inputs = {};
};

// Where people read.
struct Terminal {
  std::ostream& out;
  std::ostream& complaints;
};

// Makes the runs on all cores. The results of those that ended, in the order of the runs; when
// `stop` becomes true the others are left out. The first error of a run ends all, and names the
// run.
[[nodiscard]] k8s::Result<std::vector<Result>> make_runs(const std::vector<PlannedRun>& runs,
                                                         const ReplayOptions& options,
                                                         std::ostream& complaints,
                                                         const std::atomic<bool>& stop);

struct Findings {
  const Study& study;
  const std::vector<Result>& results;
  bool interrupted = false;  // some runs are missing
};

// Prints the table, writes the files of `folder` and evaluates --fail-if; the exit code.
[[nodiscard]] int present(const Findings& findings, const ReplayOptions& options,
                          OutputFolder& folder, Terminal terminal);

// The exit code. The first error of a run ends the study and names the run, and nothing is written.
// When `stop` becomes true the unfinished runs are left out, with a note.
[[nodiscard]] int carry_out(const Study& study, const ReplayOptions& options, OutputFolder& folder,
                            std::ostream& out, std::ostream& complaints,
                            const std::atomic<bool>& stop);

// Prints what is wrong with the arguments; kUnusable.
[[nodiscard]] int unusable(std::ostream& complaints, const k8s::Error& error);

}  // namespace bench::replay
