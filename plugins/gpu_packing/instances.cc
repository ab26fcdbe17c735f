#include "plugins/gpu_packing/instances.h"

#include <algorithm>
#include <utility>

namespace plugins {

namespace {

using namespace sched;

// What a whole GPU is worth; then every known part of one is worth a whole number.
constexpr std::int64_t kGpuWorth = 64;
// For an instance that is an unknown part of a GPU.
constexpr std::int64_t kUnknownWorth = 1;
// More pieces than this count as this many, so that sums stay small.
constexpr std::int64_t kMostPieces = 1'000'000;

std::int64_t worth_of(const gpu::MigInstances& instances, const gpu::Inventory& gpu) {
  if (instances.slices == 0 || gpu.product.geometry == nullptr) return kUnknownWorth;
  const std::int64_t all = gpu.product.geometry->slices;
  return kGpuWorth * instances.slices * instances.slices / (all * all);
}

class InstanceScore final : public NodeScore {
 public:
  explicit InstanceScore(std::vector<ResourceAmount> asked) : asked_(std::move(asked)) {}

  std::int64_t score(const NodeView& node) const override {
    const gpu::Inventory& gpu = node.facts.gpu;
    std::int64_t free = gpu.whole_gpus() > 0 ? left(node, kNvidiaGpu) * kGpuWorth : 0;
    for (const gpu::MigInstances& each : gpu.instances) {
      if (!each.shared) free += left(node, each.resource) * worth_of(each, gpu);
    }
    return std::max<std::int64_t>(kMostInstanceScore - free * kFreeGpu / kGpuWorth, 0);
  }

 private:
  // The pieces that stay free beside the pod.
  [[nodiscard]] std::int64_t left(const NodeView& node, ResourceId resource) const {
    return std::clamp<std::int64_t>(saturating_subtract(node.free(resource), asked(resource)), 0,
                                    kMostPieces);
  }

  [[nodiscard]] std::int64_t asked(ResourceId resource) const {
    for (const ResourceAmount& each : asked_) {
      if (each.resource == resource) return each.amount;
    }
    return 0;
  }

  std::vector<ResourceAmount> asked_;
};

}  // namespace

std::unique_ptr<NodeScore> make_instance_score(std::vector<ResourceAmount> asked) {
  return std::make_unique<InstanceScore>(std::move(asked));
}

}  // namespace plugins
