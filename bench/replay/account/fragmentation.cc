#include "bench/replay/account/fragmentation.h"

#include <algorithm>
#include <numeric>

namespace bench::replay {
namespace {

std::int64_t& at(FreeByCause& sum, Cause cause) { return sum[static_cast<std::size_t>(cause)]; }

}  // namespace

Fragmentation::Fragmentation(const std::vector<sched::TypicalPod>& typical_pods) {
  for (const sched::TypicalPod& pod : typical_pods) {
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
  FreeByCause sum{};
  const auto free = std::accumulate(free_milli.begin(), free_milli.end(), std::int64_t{0});
  if (free == 0) return sum;
  if (kinds_.empty()) {
    at(sum, Cause::kSatisfied) = free;
    return sum;
  }
  const Allowed& allowed = allowed_[product];
  for (const Typical& pod : allowed.pods) add(pod, free_cpu, free_milli, free, sum);
  at(sum, Cause::kNoAccess) += allowed.no_access * free;
  return sum;
}

void Fragmentation::add(const Typical& pod, std::int64_t free_cpu,
                        std::span<const std::int32_t> free_milli, std::int64_t free,
                        FreeByCause& sum) {
  const bool cpu_fits = pod.cpu <= free_cpu;
  if (pod.gpus == 0) {
    at(sum, cpu_fits ? Cause::kNoGpuAsked : Cause::kNoGpuAskedCpu) += pod.count * free;
    return;
  }
  std::int64_t large_enough = 0;
  std::int64_t usable = 0;
  for (const std::int32_t milli : free_milli) {
    if (milli < pod.milli) continue;
    ++large_enough;
    usable += milli;
  }
  const bool gpus_fit = large_enough >= pod.gpus;
  if (gpus_fit && cpu_fits) {
    at(sum, Cause::kSatisfied) += pod.count * usable;
    at(sum, Cause::kLackGpu) += pod.count * (free - usable);
  } else if (gpus_fit) {
    at(sum, Cause::kLackCpu) += pod.count * free;
  } else {
    at(sum, cpu_fits ? Cause::kLackGpu : Cause::kLackBoth) += pod.count * free;
  }
}

}  // namespace bench::replay
