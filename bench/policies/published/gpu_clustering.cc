// GpuClustering: puts pods that ask for equally much GPU on the same nodes.
//
// Pods are in classes by what they ask for (scheduler/gpu/size_class.h). By the pods that the node
// holds:
//
//   of the pod's class only    75      none with GPU          25
//   of that and others         50      of other classes only   0
//
// plus 25 · (8,000 − free milli-GPU) / 8,000, rounded down and not below 0, so that the fuller (or
// smaller) node comes first. A share of a GPU goes to the fullest device that has room. Pods
// without GPU and MIG instances are not scored. Without arguments.
#include "bench/policies/published/published.h"
#include "plugins/support/gpu_ask.h"
#include "scheduler/framework/free_devices.h"
#include "scheduler/gpu/size_class.h"

#include <algorithm>

namespace bench {
namespace {

using namespace plugins;
using namespace sched;

constexpr std::int64_t kQuarter = kMaxScore / 4;

class AmongItsLike final : public NodeScore {
 public:
  explicit AmongItsLike(gpu::SizeClass size) : size_(static_cast<std::size_t>(size)) {}

  std::int64_t score(const NodeView& node) const override {
    const std::int64_t used = kPublishedMaxGpu - free_devices(node).total();
    return company(node.usage.gpu_pods) +
           kQuarter * std::max<std::int64_t>(used, 0) / kPublishedMaxGpu;
  }

 private:
  [[nodiscard]] std::int64_t company(const gpu::SizeClassCounts& pods) const {
    const auto classes =
        pods.size() - static_cast<std::size_t>(std::count(pods.begin(), pods.end(), 0U));
    if (classes == 0) return kQuarter;
    if (pods[size_] == 0) return 0;
    return classes == 1 ? 3 * kQuarter : 2 * kQuarter;
  }

  std::size_t size_;
};

class GpuClustering final : public ScorePlugin {
 public:
  std::string_view name() const override { return "GpuClustering"; }

  std::unique_ptr<NodeScore> prepare(const PodShape& shape,
                                     const PrepareContext& context) const override {
    const auto size = gpu::size_class_of(shape.gpu);
    if (!size || gpu_ask_of(shape, context).gpus == 0) return nullptr;
    return std::make_unique<AmongItsLike>(*size);
  }
};

}  // namespace

PluginInstance make_gpu_clustering(k8s::yaml::ObjectReader&) {
  return {.score = std::make_unique<GpuClustering>()};
}

}  // namespace bench
