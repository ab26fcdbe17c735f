#include "scheduler/cluster/fragmentation.h"

#include <algorithm>
#include <numeric>

namespace sched {
namespace {

constexpr std::int64_t kWholeGpu = 1'000;

std::int64_t& at(FreeByCause& sum, FreeGpuCause cause) {
  return sum[static_cast<std::size_t>(cause)];
}

}  // namespace

std::span<const TypicalPod> covering(std::span<const TypicalPod> kinds) {
  constexpr std::uint64_t kCoveredPercent = 95;
  std::uint64_t all = 0;
  for (const TypicalPod& kind : kinds) all += kind.count;
  std::uint64_t covered = 0;
  std::size_t taken = 0;
  while (taken < kinds.size() && covered * 100 < all * kCoveredPercent) {
    covered += kinds[taken++].count;
  }
  return kinds.first(taken);
}

Fragmentation::Fragmentation(std::span<const TypicalPod> typical_pods) {
  for (const TypicalPod& pod : typical_pods) {
    const bool mig = pod.gpus > 0 && pod.milli == 0;
    if (mig || pod.count == 0) continue;
    const auto count = static_cast<std::int64_t>(pod.count);
    kinds_.push_back({{pod.cpu, pod.gpus, pod.milli, count}, pod.products});
    weight_ += count;
  }
  weight_ = std::max<std::int64_t>(weight_, 1);
}

std::size_t Fragmentation::product_id(const std::string& product) {
  const auto [found, is_new] = product_ids_.try_emplace(product, allowed_.size());
  if (!is_new) return found->second;
  Allowed& allowed = allowed_.emplace_back();
  for (const auto& [pod, products] : kinds_) {
    if (pod.gpus == 0 || products.empty() ||
        std::binary_search(products.begin(), products.end(), product)) {
      allowed.pods.push_back(pod);
    } else {
      allowed.no_access += pod.count;
    }
  }
  return found->second;
}

FreeByCause Fragmentation::free_by_cause(std::size_t product, std::int64_t free_cpu,
                                         std::span<const std::int32_t> free_milli) const {
  const auto free = std::accumulate(free_milli.begin(), free_milli.end(), std::int64_t{0});
  return sum_up(product, free_cpu, free, [&](std::int64_t size) {
    Devices large_enough;
    for (const std::int32_t milli : free_milli) {
      if (milli < size) continue;
      ++large_enough.count;
      large_enough.milli += milli;
    }
    return large_enough;
  });
}

FreeByCause Fragmentation::free_by_cause(std::size_t product, std::int64_t free_cpu,
                                         std::int64_t whole_gpus) const {
  const std::int64_t free = whole_gpus * kWholeGpu;
  return sum_up(product, free_cpu, free, [&](std::int64_t size) {
    return size <= kWholeGpu ? Devices{whole_gpus, free} : Devices{};
  });
}

template <typename LargeEnough>
FreeByCause Fragmentation::sum_up(std::size_t product, std::int64_t free_cpu, std::int64_t free,
                                  LargeEnough&& large_enough) const {
  FreeByCause sum{};
  if (free == 0) return sum;
  if (kinds_.empty()) {
    at(sum, FreeGpuCause::kSatisfied) = free;
    return sum;
  }
  const Allowed& allowed = allowed_[product];
  at(sum, FreeGpuCause::kNoAccess) = allowed.no_access * free;
  for (const Typical& pod : allowed.pods) {
    const bool cpu_fits = pod.cpu <= free_cpu;
    if (pod.gpus == 0) {
      at(sum, cpu_fits ? FreeGpuCause::kNoGpuAsked : FreeGpuCause::kNoGpuAskedCpu) +=
          pod.count * free;
      continue;
    }
    const Devices devices = large_enough(pod.milli);
    const bool gpus_fit = devices.count >= pod.gpus;
    if (gpus_fit && cpu_fits) {
      at(sum, FreeGpuCause::kSatisfied) += pod.count * devices.milli;
      at(sum, FreeGpuCause::kLackGpu) += pod.count * (free - devices.milli);
    } else if (gpus_fit) {
      at(sum, FreeGpuCause::kLackCpu) += pod.count * free;
    } else {
      at(sum, cpu_fits ? FreeGpuCause::kLackGpu : FreeGpuCause::kLackBoth) += pod.count * free;
    }
  }
  return sum;
}

}  // namespace sched
