// The figures of a run of pods that come and go.
#pragma once

#include "bench/decide/churn.h"

#include <cstddef>
#include <cstdint>

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

}  // namespace bench::decide
