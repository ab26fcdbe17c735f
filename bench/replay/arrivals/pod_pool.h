// The pods of a trace from which a workload is drawn, and what they ask of the GPUs.
#pragma once

#include "bench/replay/trace/trace.h"
#include "k8s-client/error.h"
#include "scheduler/gpu/demand.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench::replay {

// A larger workload does not fit into the memory of a small machine.
inline constexpr double kMostArrivals = 50'000'000;

struct PodPool {
  std::vector<std::size_t> pods;            // indices in Trace::pods, sorted by namespace and name
  std::vector<sched::gpu::Demand> demands;  // by index in Trace::pods
  std::int64_t capacity_milli = 0;          // of the cluster, more than 0

  // Thousandths of a GPU that `pod` (an index in Trace::pods) asks for, over all its devices.
  [[nodiscard]] std::int64_t milli(std::size_t pod) const { return demands[pod].total_milli(); }
  // The sum over `some` pods.
  [[nodiscard]] std::int64_t milli(const std::vector<std::size_t>& some) const;
};

// All pods except those that are bound at the start. An error if there are no GPUs to fill, or no
// pod asks for thousandths of one: then no percentage is ever reached.
[[nodiscard]] k8s::Result<PodPool> pool_of(const Trace& trace);

}  // namespace bench::replay
