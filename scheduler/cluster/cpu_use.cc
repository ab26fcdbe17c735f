#include "scheduler/cluster/cpu_use.h"

#include <algorithm>
#include <cstdint>

namespace sched {
namespace {

constexpr double kLeastCpu = 0.90;
constexpr double kLeastRatio = 0.97;
constexpr double kLag = 0.02;  // less of both ends it

double gpus_in_use(const NodeView& node) {
  if (node.facts.gpu_devices == 0) {
    const std::int64_t taken = std::max<std::int64_t>(node.requested(kNvidiaGpu), 0);
    return static_cast<double>(std::min(taken, node.facts.gpu.whole_gpus()));
  }
  double in_use = 0;
  for (const gpu::DeviceUse& device : node.usage.devices) {
    const std::int64_t milli = device.slices != 0 ? gpu::kMilliPerGpu : device.milli;
    in_use += static_cast<double>(milli) / static_cast<double>(gpu::kMilliPerGpu);
  }
  return in_use;
}

}  // namespace

bool cpu_is_scarce(const Nodes& nodes, bool before) {
  // Doubles: amounts in Node objects are not bounded.
  double cpu = 0;
  double cpu_in_use = 0;
  double gpus = 0;
  double in_use = 0;
  for (NodeSlot slot = 0; slot < nodes.slots(); ++slot) {
    if (!nodes.present(slot)) continue;
    const NodeView node = nodes.view(slot);
    if (node.facts.gpu.whole_gpus() <= 0 || node.facts.unschedulable) continue;
    const std::int64_t there = std::max<std::int64_t>(node.allocatable(kCpu), 0);
    cpu += static_cast<double>(there);
    cpu_in_use += static_cast<double>(std::clamp<std::int64_t>(node.requested(kCpu), 0, there));
    gpus += static_cast<double>(node.facts.gpu.whole_gpus());
    in_use += gpus_in_use(node);
  }
  if (cpu <= 0) return false;
  const double lag = before ? kLag : 0.0;
  const double part = cpu_in_use / cpu;
  return part >= kLeastCpu - lag && part >= (kLeastRatio - lag) * in_use / gpus;
}

}  // namespace sched
