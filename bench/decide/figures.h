// The figures of a run, as a table and as JSON.
#pragma once

#include "bench/decide/churn.h"

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <vector>

namespace bench::decide {

struct Figures {
  Scenario scenario;
  double pods_per_second = 0;       // of CPU time: events of a pod's whole life and the decision
  double decisions_per_second = 0;  // only the decision
  std::uint32_t p50_ns = 0;         // of a decision
  std::uint32_t p99_ns = 0;
  double refused_share = 0;  // of the decisions
  std::size_t bound = 0;
  double gpu_load = 0;
  double bytes_per_node = 0;
  double bytes_per_pod = 0;
  double bytes_per_shape = 0;
};

// The mean of a decision leaves out the longest thousandth: on a shared machine that is the time of
// other programs. pods_per_second includes it, as far as it is CPU time of this process.
[[nodiscard]] Figures figures_of(const Scenario& scenario, Outcome outcome);

// Markdown: call write_head() once, then write a line for each run as soon as it is done.
void write_head(std::ostream& out);
void write_line(std::ostream& out, const Figures& figures);

// With the compiler, which affects the figures as much as the machine does.
void write_json(std::ostream& out, const std::vector<Figures>& runs);

}  // namespace bench::decide
