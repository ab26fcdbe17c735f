#include "bench/replay/arrivals/pod_pool.h"

#include "bench/replay/trace/gpu_amounts.h"

#include <algorithm>
#include <tuple>

namespace bench::replay {

std::int64_t PodPool::milli(const std::vector<std::size_t>& some) const {
  std::int64_t sum = 0;
  for (const std::size_t pod : some) sum += milli(pod);
  return sum;
}

k8s::Result<PodPool> pool_of(const Trace& trace) {
  PodPool pool;
  pool.demands = demands_of(trace.pods);
  pool.capacity_milli = replay::capacity_milli(trace);
  for (std::size_t i = 0; i < trace.pods.size(); ++i) {
    if (!trace.pods[i].bound_to_start_with) pool.pods.push_back(i);
  }
  const auto name = [&](std::size_t i) {
    const k8s::ObjectMeta& metadata = trace.pods[i].pod.metadata;
    return std::tie(metadata.namespace_, metadata.name);
  };
  std::sort(pool.pods.begin(), pool.pods.end(),
            [&](std::size_t a, std::size_t b) { return name(a) < name(b); });
  if (pool.capacity_milli <= 0) {
    return k8s::config_error("the nodes of trace \"" + trace.name +
                             "\" have no nvidia.com/gpu: a percentage of their GPUs means nothing");
  }
  if (pool.milli(pool.pods) <= 0) {
    return k8s::config_error("no arriving pod of trace \"" + trace.name +
                             "\" asks for a GPU or a share of one: no load can be drawn from it");
  }
  return pool;
}

}  // namespace bench::replay
