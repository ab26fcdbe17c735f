// BestFit: the node that would be left with the least CPU and GPU.
//
// With c and g the CPU and GPU (milli) that the node would have left:
//
//   score = int(100 · (1 − (c / 128,000 + g / 8,000) / 2)), then min-max normalised to 0 … 100
//
// in exact integers. A share of a GPU goes to the fullest device that has room. Nodes larger than
// the published ones (128 CPUs, 8 GPUs) are distinguished, too. MIG instances are not scored.
// Without arguments.
#include "bench/policies/published/published.h"
#include "plugins/support/gpu_ask.h"
#include "scheduler/framework/free_devices.h"

#include <algorithm>

namespace bench {
namespace {

using namespace plugins;
using namespace sched;

// The formula over a common denominator: (100 · kWhole − 100 · c − 1,600 · g) / kWhole.
constexpr std::int64_t kWhole = 2 * kPublishedMaxCpu;
// Added to every score; the normalisation removes it again. So raw scores are never below 0,
// although nodes may be larger than the published ones.
constexpr std::int64_t kShift = 1'000;
// More than any node has; keeps products within 64 bits.
constexpr std::int64_t kMostCpu = 1'000'000'000;

class TightFit final : public NodeScore {
 public:
  explicit TightFit(const GpuAsk& ask) : cpu_(ask.cpu), milli_(ask.total_milli()) {}

  std::int64_t score(const NodeView& node) const override {
    const std::int64_t cpu =
        std::clamp<std::int64_t>(saturating_subtract(node.free(kCpu), cpu_), 0, kMostCpu);
    const std::int64_t gpu =
        std::max<std::int64_t>(saturating_subtract(free_devices(node).total(), milli_), 0);
    const std::int64_t share =
        (kShift + kMaxScore) * kWhole - kMaxScore * (cpu + kPublishedGpuPerCpu * gpu);
    return std::max<std::int64_t>(share, 0) / kWhole;
  }

 private:
  std::int64_t cpu_;
  std::int64_t milli_;
};

class BestFit final : public ScorePlugin {
 public:
  std::string_view name() const override { return "BestFit"; }
  Normalisation normalisation() const override { return Normalisation::kMinMax; }

  std::unique_ptr<NodeScore> prepare(const PodShape& shape,
                                     const PrepareContext& context) const override {
    if (shape.gpu.has_instances()) return nullptr;
    return std::make_unique<TightFit>(gpu_ask_of(shape, context));
  }
};

}  // namespace

PluginInstance make_best_fit(k8s::yaml::ObjectReader&) {
  return {.score = std::make_unique<BestFit>()};
}

}  // namespace bench
