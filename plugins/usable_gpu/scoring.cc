#include "plugins/usable_gpu/scoring.h"

#include "plugins/support/value_score.h"

#include <algorithm>
#include <utility>

namespace plugins {
namespace {

using namespace sched;

// The value of all GPUs of the largest node: the most that a pod can take or destroy.
constexpr std::int64_t kLargestNode =
    static_cast<std::int64_t>(gpu::kMaxDevices) * gpu::kMilliPerGpu;

// Milli-CPU.
constexpr std::int64_t kMostCpuLeft = 10'000'000;

std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  const std::int64_t quotient = a / b;
  return a % b < 0 ? quotient - 1 : quotient;
}

// How losses become scores.
struct Scale {
  std::int64_t quantum = 1;
  std::int64_t neutral = 0;
  std::int64_t max = 0;
  std::int64_t per_cpu = 0;  // what each free milli-CPU counts as lost, in kUnitWeight
};

class MoreUsable final : public ValueScore {
 public:
  MoreUsable(std::shared_ptr<const GpuValue> value, const GpuAsk& ask, const Scale& scale)
      : ValueScore(std::move(value), ask), scale_(scale) {}

 private:
  std::int64_t rate(std::int64_t lost, std::int64_t cpu_left) const override {
    // More cores than a node has do not count: nothing overflows, whatever is in a Node object.
    const std::int64_t cores_left = std::clamp<std::int64_t>(cpu_left, 0, kMostCpuLeft);
    const std::int64_t all_lost = lost + cores_left * scale_.per_cpu;
    const std::int64_t key =
        floor_divide(requested() * kUnitWeight - all_lost, scale_.quantum * kUnitWeight);
    // With prices a node may lose more than its GPUs; rounded weights may exceed one a little.
    return std::clamp<std::int64_t>(scale_.neutral + key, 0, scale_.max);
  }

  Scale scale_;
};

}  // namespace

std::unique_ptr<NodeScore> UsableGpuScoring::prepare(const GpuAsk& ask,
                                                     const ClusterContextPtr& cluster) const {
  if (cluster->pods.empty()) return nullptr;
  auto value = value_.get(cluster, [this](const ClusterContext& context) {
    return GpuValue(usable_gpu_weights(context, args_.weights), HostLimit::kShare);
  });
  const Scale scale{
      .quantum = args_.quantum,
      .neutral = neutral(),
      .max = max_score(),
      .per_cpu = cluster->cpu_is_scarce ? args_.conserve_cpu * kUnitWeight / 1'000 : 0};
  return std::make_unique<MoreUsable>(std::move(value), ask, scale);
}

std::int64_t UsableGpuScoring::neutral() const { return kLargestNode / args_.quantum + 1; }

}  // namespace plugins
