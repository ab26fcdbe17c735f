#include "plugins/usable_gpu/usable_gpu.h"

#include "plugins/support/gpu_ask.h"
#include "plugins/support/gpu_value.h"
#include "plugins/support/per_version.h"
#include "plugins/support/value_score.h"

#include <algorithm>
#include <utility>

namespace plugins {
namespace {

using namespace sched;

// What all GPUs of the largest node are worth, and so the most that a pod can take or destroy.
constexpr std::int64_t kMost = static_cast<std::int64_t>(gpu::kMaxDevices) * gpu::kMilliPerGpu;

std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  const std::int64_t quotient = a / b;
  return a % b < 0 ? quotient - 1 : quotient;
}

// Keys lie in −(kMost / quantum) … 2 · kMost / quantum: all GPUs destroyed for nothing asked, or
// all asked for and as much gained.
struct KeyRange {
  std::int64_t quantum = 1;

  [[nodiscard]] std::int64_t shift() const { return kMost / quantum + 1; }
  [[nodiscard]] std::int64_t max_score() const { return 3 * shift(); }
};

class MoreUsable final : public ValueScore {
 public:
  MoreUsable(std::shared_ptr<const GpuValue> value, const GpuAsk& ask, KeyRange range)
      : ValueScore(std::move(value), ask), range_(range) {}

 private:
  std::int64_t rate(std::int64_t lost) const override {
    const std::int64_t key =
        floor_divide(requested() * kUnitWeight - lost, range_.quantum * kUnitWeight);
    // Rounded weights may sum up to a hair more than one.
    return std::clamp<std::int64_t>(key + range_.shift(), 0, range_.max_score());
  }

  KeyRange range_;
};

class UsableGpu final : public ScorePlugin {
 public:
  explicit UsableGpu(UsableGpuArgs args) : args_(args), range_{args.quantum} {}

  std::string_view name() const override { return "UsableGpu"; }
  std::int64_t max_score() const override { return range_.max_score(); }
  bool reads_statistics() const override { return true; }

  std::unique_ptr<NodeScore> prepare(const PodShape& shape,
                                     const PrepareContext& context) const override {
    if (shape.gpu.is_mig() || context.cluster->pods.empty()) return nullptr;
    auto value = value_.get(context.cluster, [this](const ClusterContext& cluster) {
      return GpuValue(usable_gpu_weights(cluster, args_.weights), CpuLimit::kShare);
    });
    return std::make_unique<MoreUsable>(std::move(value), gpu_ask_of(shape, context), range_);
  }

 private:
  UsableGpuArgs args_;
  KeyRange range_;
  mutable PerVersion<GpuValue> value_;
};

}  // namespace

PluginInstance make_usable_gpu(UsableGpuArgs args) {
  PluginInstance instance;
  instance.score = std::make_unique<UsableGpu>(args);
  return instance;
}

PluginInstance make_usable_gpu(k8s::yaml::ObjectReader& args) {
  return make_usable_gpu(read_usable_gpu_args(args));
}

}  // namespace plugins
