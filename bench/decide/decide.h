// bench decide: how fast the engine decides, without API server, network and threads.
//
// The default profile, or another, on clusters of several sizes, with pods of several kinds that
// come and go at 90 % load (churn.h). What the figures say and what they are not: README.md.
#pragma once

#include "bench/decide/churn.h"
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
  // Twice as many as the engine's statistics remember: those who filled the cluster count for a
  // sixteenth of what it has learned at most. Where quotas contend nobody comes before.
  std::size_t warm_up = 2 * sched::WorkloadStatistics::kMemory;
  std::size_t pods = 50'000;
  std::size_t waiting = 0;
  WaitingFor waiting_for = WaitingFor::kNodes;
  std::size_t quotas = 0;
  std::size_t trials = 0;  // so many, instead of pods that come and go
  bool rules = false;  // pods with rules across nodes (ruled.h), instead of pods that come and go
  std::size_t crowd = 0;  // so many pods of another tenant (crowd.h), one kind after the other
  std::vector<std::string> crowds{};  // these kinds, and nobody; none: all
  double load = 0.9;
  std::uint64_t seed = 1;
  std::string json{};    // file; empty: none
  std::string config{};  // file with the profile; empty: the default one
};

// A Markdown table on `out`. Exit code: 0; 2 with a message where a file cannot be read or written.
[[nodiscard]] int run(const Options& options, const sched::Registry& registry, std::ostream& out,
                      std::ostream& err);

}  // namespace bench::decide
