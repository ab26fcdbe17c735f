#include "scheduler/cluster/cpu_use.h"

#include <algorithm>
#include <cstdint>

namespace sched {
namespace {

constexpr double kLeastCpu = 0.90;    // part of the CPU in use
constexpr double kLeastRatio = 0.97;  // that part, of the part of the GPUs
constexpr double kLag = 0.03;         // less of both ends it

// Thousandths.
std::int64_t gpus_in_use(const NodeView& node) {
  if (node.facts.gpu_devices == 0) {
    return std::clamp<std::int64_t>(node.requested(kNvidiaGpu), 0, node.facts.gpu.whole_gpus()) *
           gpu::kMilliPerGpu;
  }
  std::int64_t milli = 0;
  for (const gpu::DeviceUse& device : node.usage.devices) milli += device.milli;
  return milli;
}

}  // namespace

bool cpu_is_scarce(const Nodes& nodes, bool before) {
  // Sums of doubles: amounts in Node objects are not bounded.
  double cpu = 0;
  double cpu_in_use = 0;
  double gpus = 0;
  double in_use = 0;
  for (NodeSlot slot = 0; slot < nodes.slots(); ++slot) {
    if (!nodes.present(slot)) continue;
    const NodeView node = nodes.view(slot);
    if (node.facts.gpu.whole_gpus() <= 0) continue;
    cpu += static_cast<double>(node.allocatable(kCpu));
    cpu_in_use += static_cast<double>(node.requested(kCpu));
    gpus += static_cast<double>(node.facts.gpu.whole_gpus() * gpu::kMilliPerGpu);
    in_use += static_cast<double>(gpus_in_use(node));
  }
  if (cpu <= 0 || gpus <= 0) return false;
  const double lag = before ? kLag : 0.0;
  const double part = cpu_in_use / cpu;
  return part >= kLeastCpu - lag && part >= (kLeastRatio - lag) * in_use / gpus;
}

}  // namespace sched
