#include "scheduler/framework/free_devices.h"

#include <algorithm>
#include <numeric>

namespace sched {

std::int64_t FreeDevices::total() const { return std::accumulate(begin(), end(), std::int64_t{0}); }

std::int64_t whole_devices(const NodeView& node) {
  constexpr auto kMost = static_cast<std::int64_t>(gpu::kMaxDevices);
  const std::int64_t all = std::clamp<std::int64_t>(node.facts.gpu.whole_gpus(), 0, kMost);
  return std::clamp<std::int64_t>(node.free(kNvidiaGpu), 0, all);
}

FreeDevices free_devices(const NodeView& node) {
  constexpr auto kMost = static_cast<std::int64_t>(gpu::kMaxDevices);
  constexpr auto kWhole = static_cast<std::int32_t>(gpu::kMilliPerGpu);
  FreeDevices free;
  if (node.facts.gpu_devices > 0) {
    const auto devices = static_cast<std::size_t>(node.facts.gpu_devices);
    for (std::size_t i = 0; i < devices; ++i) {
      const gpu::DeviceUse use =
          i < node.usage.devices.size() ? node.usage.devices[i] : gpu::DeviceUse{};
      free.push_back(use.slices != 0 ? 0 : kWhole - use.milli);
    }
    return free;
  }
  const std::int64_t all = std::clamp<std::int64_t>(node.facts.gpu.whole_gpus(), 0, kMost);
  const std::int64_t left = whole_devices(node);
  for (std::int64_t i = 0; i < all; ++i) free.push_back(i < all - left ? 0 : kWhole);
  return free;
}

}  // namespace sched
