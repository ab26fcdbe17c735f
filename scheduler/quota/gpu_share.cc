#include "scheduler/quota/gpu_share.h"

#include <fmt/format.h>

namespace sched::quota {
namespace {

constexpr std::int64_t kMilliPerGpu = 1'000;
constexpr std::int64_t kUnitsPerMilli = GpuShare::kUnitsPerGpu / kMilliPerGpu;

std::int64_t milli_of(GpuShare share) {
  return share.units() / kUnitsPerMilli + (share.units() % kUnitsPerMilli > 0 ? 1 : 0);
}

}  // namespace

GpuShare GpuShare::of(const k8s::Quantity& gpus) {
  return GpuShare(kUnitsPerMilli).times(gpus.milli_value());
}

std::string to_text(GpuShare share) {
  const std::int64_t milli = milli_of(share);
  if (milli % kMilliPerGpu == 0) return fmt::format("{}", milli / kMilliPerGpu);
  std::string text = fmt::format("{}.{:03}", milli / kMilliPerGpu, milli % kMilliPerGpu);
  text.erase(text.find_last_not_of('0') + 1);
  return text;
}

k8s::Quantity to_quantity(GpuShare share) { return k8s::Quantity::of_milli(milli_of(share)); }

}  // namespace sched::quota
