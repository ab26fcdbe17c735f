#include "bench/replay/account/kind_of_pod.h"

#include "scheduler/gpu/mig/geometry.h"
#include "scheduler/gpu/product.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

namespace bench::replay {
namespace {

using sched::gpu::kMilliPerGpu;

// A pod of a recording may ask for any number, and only wait; sums stay within 64 bits.
constexpr std::int64_t kMostGpus = 10'000;

std::string gpu_text(const sched::gpu::Demand& gpu) {
  if (gpu.is_none()) return "no GPU";
  std::vector<std::string> pieces;
  if (gpu.gpus > 0) {
    pieces.push_back(fmt::format(
        "{:g} GPU", static_cast<double>(gpu.gpus) * static_cast<double>(gpu.milli) / 1000));
  }
  for (const auto& [profile, count] : gpu.instances) {
    pieces.push_back(fmt::format("{} MIG {}", count, profile));
  }
  std::string text = fmt::format("{}", fmt::join(pieces, " + "));
  if (!gpu.products.empty()) text += fmt::format(" ({})", fmt::join(gpu.products, "|"));
  return text;
}

// By the first model with such a profile; 0: none.
std::int64_t milli_of(const sched::gpu::InstanceDemand& demand) {
  for (const auto& geometry : sched::gpu::mig::geometries()) {
    if (const auto* profile = geometry.find(demand.profile)) {
      return std::min(demand.count, kMostGpus) * kMilliPerGpu * profile->memory_slices /
             geometry.slices;
    }
  }
  return 0;
}

}  // namespace

KindOfPod kind_of(const k8s::Pod& pod, const sched::PodShape& shape, bool devices_apart) {
  sched::gpu::Demand counted = shape.gpu;
  if (!devices_apart) counted.instances.clear();
  const std::int64_t cpu = shape.request(sched::kCpu);
  const std::int64_t memory = shape.request(sched::kMemory);
  return {.namespace_ = pod.metadata.namespace_,
          .name = pod.metadata.name,
          .text = fmt::format("{}, {:g} CPU, {:.4g}Gi", gpu_text(shape.gpu),
                              static_cast<double>(cpu) / 1000,
                              static_cast<double>(memory) / (1024.0 * 1024 * 1024)),
          .gpu = counted,
          .gpu_milli = gpu_milli_of(counted),
          .cpu_milli = cpu};
}

std::int64_t gpu_milli_of(const sched::gpu::Demand& demand) {
  std::int64_t milli = std::min(demand.gpus, kMostGpus) * std::min(demand.milli, kMilliPerGpu);
  for (const auto& instances : demand.instances) milli += milli_of(instances);
  return milli;
}

std::int64_t gpu_milli_of(std::int64_t milli, std::uint16_t slices, std::int64_t slices_of_device) {
  return milli + kMilliPerGpu * std::popcount(slices) / slices_of_device;
}

std::int64_t slices_of(std::string_view product) {
  const auto* geometry = sched::gpu::geometry_of(product);
  return geometry == nullptr ? 8 : geometry->slices;
}

}  // namespace bench::replay
