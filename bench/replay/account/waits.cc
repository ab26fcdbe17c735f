#include "bench/replay/account/waits.h"

#include "scheduler/gpu/devices.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace bench::replay {
namespace {

constexpr std::array<std::string_view, 5> kSizeNames{"no GPU", "part of a GPU", "1 GPU",
                                                     "2 to 7 GPUs", "8 GPUs or more"};

}  // namespace

std::size_t Waits::size_of(const KindOfPod& pod) {
  const std::int64_t milli = pod.gpu_milli;
  const std::size_t size = milli <= 0                             ? 0
                           : milli < sched::gpu::kMilliPerGpu     ? 1
                           : milli == sched::gpu::kMilliPerGpu    ? 2
                           : milli < 8 * sched::gpu::kMilliPerGpu ? 3
                                                                  : 4;
  return 2 * size + (pod.gpu.products.empty() ? 0 : 1);
}

void Waits::add(const KindOfPod& pod, double seconds) {
  Size& size = sizes_[size_of(pod)];
  size.waits.push_back(seconds);
  size.gpu_seconds +=
      seconds * static_cast<double>(pod.gpu_milli) / static_cast<double>(sched::gpu::kMilliPerGpu);
  Sum& sum = namespaces_[pod.namespace_];
  ++sum.pods;
  sum.seconds += seconds;
}

std::vector<double> Waits::sorted() const {
  std::vector<double> all;
  for (const Size& size : sizes_) all.insert(all.end(), size.waits.begin(), size.waits.end());
  std::sort(all.begin(), all.end());
  return all;
}

double Waits::mean_of(const std::string& namespace_) const {
  const auto found = namespaces_.find(namespace_);
  return found == namespaces_.end()
             ? 0
             : found->second.seconds / static_cast<double>(found->second.pods);
}

std::vector<WaitOfSize> Waits::by_size() const {
  std::vector<WaitOfSize> all;
  for (std::size_t i = 0; i < kSizes; ++i) {
    std::vector<double> waits = sizes_[i].waits;
    if (waits.empty()) continue;
    std::sort(waits.begin(), waits.end());
    std::string name(kSizeNames[i / 2]);
    if (i % 2 == 1) name += ", types named";
    all.push_back({.size = std::move(name),
                   .pods = waits.size(),
                   .gpu_hours = sizes_[i].gpu_seconds / 3'600,
                   .p50 = quantile(waits, 0.50),
                   .p99 = quantile(waits, 0.99)});
  }
  return all;
}

double quantile(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return 0;
  const double rank = std::ceil(share * static_cast<double>(sorted.size()));
  return sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

}  // namespace bench::replay
