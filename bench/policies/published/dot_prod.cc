// DotProd: the node with free amounts least similar to what the pod asks for.
//
// After the dot-product alignment of Tetris (Grandl et al., SIGCOMM'14). With the free CPU and GPU
// of the node and those that the pod asks for (milli):
//
//   score = int(100 · (1 − (free cpu / 128,000 · cpu / 128,000
//                           + free gpu / 8,000 · gpu / 8,000) / 2))
//
// in exact integers, not below 0. A share of a GPU goes to the fullest device that has room. MIG
// instances are not scored. Without arguments.
#include "bench/policies/published/published.h"
#include "plugins/support/gpu_ask.h"
#include "scheduler/framework/free_devices.h"

#include <algorithm>

namespace bench {
namespace {

using namespace plugins;
using namespace sched;

__extension__ using Wide = __int128;

constexpr Wide kLargestProduct = Wide{2} * kPublishedMaxCpu * kPublishedMaxCpu;
// The weight of a product of two GPU amounts relative to one of CPU.
constexpr Wide kGpuWeight = Wide{kPublishedGpuPerCpu} * kPublishedGpuPerCpu;

class Unlike final : public NodeScore {
 public:
  explicit Unlike(const GpuAsk& ask) : cpu_(ask.cpu), milli_(ask.total_milli()) {}

  std::int64_t score(const NodeView& node) const override {
    const Wide alike =
        Wide{node.free(kCpu)} * cpu_ + kGpuWeight * free_devices(node).total() * milli_;
    const Wide score = kMaxScore * (kLargestProduct - std::clamp<Wide>(alike, 0, kLargestProduct)) /
                       kLargestProduct;
    return static_cast<std::int64_t>(score);
  }

 private:
  std::int64_t cpu_;
  std::int64_t milli_;
};

class DotProd final : public ScorePlugin {
 public:
  std::string_view name() const override { return "DotProd"; }

  std::unique_ptr<NodeScore> prepare(const PodShape& shape,
                                     const PrepareContext& context) const override {
    if (shape.gpu.has_instances()) return nullptr;
    return std::make_unique<Unlike>(gpu_ask_of(shape, context));
  }
};

}  // namespace

PluginInstance make_dot_prod(k8s::yaml::ObjectReader&) {
  return {.score = std::make_unique<DotProd>()};
}

}  // namespace bench
