#include "scheduler/cluster/cpu_use.h"

#include "scheduler/framework/free_devices.h"

#include <algorithm>
#include <cstdint>

namespace sched {
namespace {

constexpr double kLeastCpu = 0.90;
constexpr double kLeastRatio = 0.97;
constexpr double kLag = 0.02;  // while CPU is scarce, both limits are lower by this

}  // namespace

bool cpu_is_scarce(const Nodes& nodes, bool before) {
  double cpu = 0;  // the amounts in Node objects are not bounded
  double cpu_in_use = 0;
  std::int64_t gpus = 0;  // thousandths
  std::int64_t free_gpus = 0;
  for (NodeSlot slot = 0; slot < nodes.slots(); ++slot) {
    if (!nodes.present(slot)) continue;
    const NodeView node = nodes.view(slot);
    if (node.facts.gpu.whole_gpus() <= 0 || node.facts.unschedulable) continue;
    const std::int64_t there = std::max<std::int64_t>(node.allocatable(kCpu), 0);
    cpu += static_cast<double>(there);
    cpu_in_use += static_cast<double>(std::clamp<std::int64_t>(node.requested(kCpu), 0, there));
    const FreeDevices free = free_devices(node);
    gpus += static_cast<std::int64_t>(free.size()) * gpu::kMilliPerGpu;
    free_gpus += free.total();
  }
  if (cpu <= 0) return false;
  const double lag = before ? kLag : 0.0;
  const double of_cpu = cpu_in_use / cpu;
  const double of_gpus = static_cast<double>(gpus - free_gpus) / static_cast<double>(gpus);
  return of_cpu >= kLeastCpu - lag && of_cpu >= (kLeastRatio - lag) * of_gpus;
}

}  // namespace sched
