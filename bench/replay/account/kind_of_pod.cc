#include "bench/replay/account/kind_of_pod.h"

#include "scheduler/gpu/mig/geometry.h"
#include "scheduler/gpu/mig/product.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>

namespace bench::replay {
namespace {

using sched::gpu::kMilliPerGpu;

std::string gpu_text(const sched::gpu::Demand& gpu) {
  if (gpu.is_none()) return "no GPU";
  std::string text;
  if (gpu.is_mig()) {
    text = fmt::format("{} MIG {}", gpu.gpus, gpu.mig_profile);
  } else {
    text = fmt::format("{:g} GPU", static_cast<double>(gpu.total_milli()) / 1000);
  }
  if (!gpu.products.empty()) text += fmt::format(" ({})", fmt::join(gpu.products, "|"));
  return text;
}

}  // namespace

KindOfPod kind_of(const k8s::Pod& pod, const sched::PodShape& shape, bool devices_apart) {
  const bool counts = devices_apart || !shape.gpu.is_mig();
  const std::int64_t cpu = shape.request(sched::kCpu);
  const std::int64_t memory = shape.request(sched::kMemory);
  return {.namespace_ = pod.metadata.namespace_,
          .name = pod.metadata.name,
          .text = fmt::format("{}, {:g} CPU, {:.4g}Gi", gpu_text(shape.gpu),
                              static_cast<double>(cpu) / 1000,
                              static_cast<double>(memory) / (1024.0 * 1024 * 1024)),
          .gpu = shape.gpu,
          .gpu_milli = counts ? gpu_milli_of(shape.gpu) : 0,
          .cpu_milli = cpu};
}

std::int64_t gpu_milli_of(const sched::gpu::Demand& demand) {
  if (!demand.is_mig()) return demand.total_milli();
  for (const auto& geometry : sched::gpu::mig::geometries()) {
    if (const auto* profile = geometry.find(demand.mig_profile)) {
      return demand.gpus * kMilliPerGpu * profile->memory_slices / geometry.slices;
    }
  }
  return 0;
}

std::int64_t gpu_milli_of(std::int64_t milli, std::uint16_t slices, std::int64_t slices_of_device) {
  return milli + kMilliPerGpu * std::popcount(slices) / slices_of_device;
}

std::int64_t slices_of(std::string_view product) {
  const auto* geometry = sched::gpu::mig::geometry_of(product);
  return geometry == nullptr ? 8 : geometry->slices;
}

}  // namespace bench::replay
