#include "bench/replay/arrivals/recorded.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

namespace bench::replay {
namespace {

// Indices of the pods that arrive, by creation.
std::vector<std::size_t> by_creation(const Trace& trace) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < trace.pods.size(); ++i) {
    if (!trace.pods[i].bound_to_start_with) order.push_back(i);
  }
  const auto created = [&](std::size_t i) { return trace.pods[i].created.value_or(Moment::max()); };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return created(a) < created(b); });
  return order;
}

}  // namespace

k8s::Result<Workload> as_recorded(const Trace& trace) {
  const std::vector<std::size_t> order = by_creation(trace);
  // Unknown ones are at the end.
  if (!order.empty() && !trace.pods[order.back()].created) {
    const k8s::ObjectMeta& one = trace.pods[order.back()].pod.metadata;
    return k8s::config_error(fmt::format(
        "trace \"{}\" does not say when its pods came ({}/{} has no creation time): arrival "
        "\"trace\" is not possible, \"backlog\", \"inflate\" and \"stationary\" are",
        trace.name, one.namespace_, one.name));
  }
  Workload workload;
  for (const std::size_t pod : order) {
    const TracePod& one = trace.pods[pod];
    Arrival arrival{.pod = pod, .at = *one.created, .leaves = one.deleted};
    if (arrival.leaves) arrival.leaves = std::max(*arrival.leaves, arrival.at + Moment(1));
    workload.arrivals.push_back(arrival);
  }
  return workload;
}

Workload as_backlog(const Trace& trace) {
  Workload workload;
  for (const std::size_t pod : by_creation(trace)) {
    workload.arrivals.push_back({.pod = pod, .at = Moment(0), .leaves = std::nullopt});
  }
  return workload;
}

}  // namespace bench::replay
