#include "bench/replay/trace/gpu_amounts.h"

#include "scheduler/gpu/devices.h"

namespace bench::replay {

std::int64_t gpus_of(const k8s::Node& node) {
  for (const auto& [name, quantity] : node.status.allocatable) {
    if (name == kGpuResource) return quantity.value();
  }
  return 0;
}

std::int64_t capacity_milli(const Trace& trace) {
  std::int64_t gpus = 0;
  for (const k8s::Node& node : trace.nodes) gpus += gpus_of(node);
  return gpus * sched::gpu::kMilliPerGpu;
}

std::vector<sched::gpu::Demand> demands_of(const std::vector<TracePod>& pods) {
  sched::ResourceNames names;
  std::vector<sched::gpu::Demand> demands;
  demands.reserve(pods.size());
  for (const TracePod& pod : pods) demands.push_back(sched::shape_of(pod.pod, names).gpu);
  return demands;
}

}  // namespace bench::replay
