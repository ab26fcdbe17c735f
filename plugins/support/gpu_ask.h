// A pod's request, in the amounts that GPU scores use.
#pragma once

#include "scheduler/framework/plugin.h"

#include <algorithm>
#include <cstdint>

namespace plugins {

struct GpuAsk {
  std::int64_t cpu = 0;     // milli-CPU
  std::int64_t memory = 0;  // bytes
  std::int64_t gpus = 0;    // at most kMaxDevices: no node has more
  std::int64_t milli = 0;   // of each of them; 0 for pods without GPU

  [[nodiscard]] bool is_share() const { return milli > 0 && milli < sched::gpu::kMilliPerGpu; }
  [[nodiscard]] std::int64_t total_milli() const { return gpus * milli; }
};

// A share of a GPU counts only if devices are kept one by one; elsewhere it counts as no GPU. MIG
// instances, which are not thousandths of a GPU, count as none, too.
[[nodiscard]] inline GpuAsk gpu_ask_of(const sched::PodShape& shape,
                                       const sched::PrepareContext& context) {
  constexpr auto kMost = static_cast<std::int64_t>(sched::gpu::kMaxDevices);
  const sched::gpu::Demand& gpu = shape.gpu;
  const bool measured = gpu.milli > 0 && (!gpu.is_share() || context.cluster->devices_apart);
  return {.cpu = shape.request(sched::kCpu),
          .memory = shape.request(sched::kMemory),
          .gpus = measured ? std::min(gpu.gpus, kMost) : 0,
          .milli = measured ? gpu.milli : 0};
}

}  // namespace plugins
