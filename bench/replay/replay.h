// bench replay: compares policies on a trace, from files to files.
//
// Reads the traces, runs every trace × policy × seed on all cores, and writes a table, and into
// `out` summary.json, steps.csv, report.html and, if wanted, decisions.jsonl. Results are in the
// order trace, policy, seed, whichever ran first. bench/replay/README.md is the user's manual.
#pragma once

#include "bench/replay/output/table.h"
#include "bench/replay/run/run.h"
#include "scheduler/framework/registry.h"

#include <atomic>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace bench::replay {

struct ReplayOptions {
  std::string nodes;
  std::vector<std::string> pods;         // a trace each
  std::vector<std::string> policies;     // empty: "default"
  std::vector<std::string> seeds{"42"};  // "42" or "42..51"
  std::string arrival = "inflate:130";
  std::string life = "exponential";
  std::string until;                  // "36h"; empty: to the end
  std::string quotas;                 // a file of GpuQuota objects; empty: none
  std::optional<WhenFull> when_full;  // nullopt: chosen by the arrival
  TypicalPods typical_pods = TypicalPods::kLearned;
  std::vector<double> snapshots;  // empty: default ones
  std::vector<std::string> fail_if;
  std::string out;    // folder; empty: only the table
  std::string share;  // "2/8": only that part of the runs, stored in `out`; empty: all of them
  bool decisions = false;
  std::size_t jobs = 0;  // 0: as many as there are cores
  TableFormat format = TableFormat::kText;
  bool progress = false;     // a progress line on the error stream
  std::string command_line;  // for the report: what gives the same results
};

// Exit codes: 0; 1 a --fail-if condition holds; 2 an argument is invalid.
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kUnusable = 2;

// `stop` becomes true when the user asks for the end: the finished runs are written, and the return
// value is kDone.
[[nodiscard]] int replay(const ReplayOptions& options, const sched::Registry& registry,
                         std::ostream& out, std::ostream& complaints,
                         const std::atomic<bool>& stop);

}  // namespace bench::replay
