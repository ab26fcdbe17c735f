// bench decide: how fast the engine decides, without API server, network and threads.
//
// The default profile, or another, on clusters of several sizes, with pods of several kinds that
// come and go at 90 % load (churn.h). README.md explains the figures and their limits.
#pragma once

#include "bench/decide/churn.h"
#include "bench/output.h"
#include "scheduler/cluster/workload.h"
#include "scheduler/framework/registry.h"

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace bench::decide {

struct Options {
  // Every number of nodes with every number of shapes.
  std::vector<std::size_t> nodes{1'000, 10'000, 100'000};
  std::vector<std::size_t> shapes{1, 10, 100};
  // Twice as many as the engine's statistics remember: so the pods that filled the cluster are at
  // most a sixteenth of what it has learned. If quotas contend, no pods come before.
  std::size_t warm_up = 2 * sched::WorkloadStatistics::kMemory;
  std::size_t pods = 50'000;
  std::size_t waiting = 0;
  WaitingFor waiting_for = WaitingFor::kNodes;
  std::size_t quotas = 0;
  std::size_t trials = 0;  // how many, instead of pods that come and go
  bool rules = false;  // pods with rules across nodes (ruled.h), instead of pods that come and go
  std::size_t preempting = 0;  // how many pods that evict others (preempting.h)
  std::size_t groups = 0;      // how many groups of pods that start together (grouped.h)
  std::size_t crowd = 0;  // how many pods of another tenant (crowd.h), one kind after the other
  std::vector<std::string> crowds{};  // only these kinds; empty: all
  std::size_t stored = 0;             // MiB of what the engine may store of shapes; 0: its default
  double load = 0.9;
  std::uint64_t seed = 1;
  Output output = Output::kJson;
  std::string json{};    // file for the same JSON; empty: none
  std::string config{};  // file with the profile; empty: the default one
};

// Prints the figures on `out` when all runs are done (report.h). With a table, it also prints a
// line on `err` as soon as a run is done. Exit code: 0; 2 with a message if a file cannot be read
// or written, or `out` cannot be written.
[[nodiscard]] int run(const Options& options, const sched::Registry& registry, std::ostream& out,
                      std::ostream& err);

}  // namespace bench::decide
