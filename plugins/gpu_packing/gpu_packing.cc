#include "plugins/gpu_packing/gpu_packing.h"

#include "plugins/support/share.h"

#include <algorithm>

namespace plugins {

namespace {

using namespace sched;

// The mean share of the asked kinds that would be taken with the pod.
class Packed final : public NodeScore {
 public:
  explicit Packed(std::vector<ResourceAmount> asked) : asked_(std::move(asked)) {}

  std::int64_t score(const NodeView& node) const override {
    std::int64_t sum = 0;
    std::int64_t kinds = 0;
    for (const auto& [resource, amount] : asked_) {
      const std::int64_t capacity = node.allocatable(resource);
      if (capacity <= 0) continue;
      sum += percentage(
          std::clamp<std::int64_t>(saturating_add(node.requested(resource), amount), 0, capacity),
          capacity);
      ++kinds;
    }
    return kinds == 0 ? 0 : sum / kinds;
  }

 private:
  std::vector<ResourceAmount> asked_;
};

// Nodes without GPUs.
class Apart final : public NodeScore {
 public:
  // Names are looked up per node: a kind of GPU may turn up after this was prepared.
  explicit Apart(const ResourceNames& names) : names_(names) {}

  std::int64_t score(const NodeView& node) const override {
    for (std::size_t i = 0; i < node.facts.allocatable.size(); ++i) {
      const auto id = static_cast<ResourceId>(i);
      if (node.allocatable(id) > 0 && is_gpu_resource(names_.name(id))) return 0;
    }
    return kMaxScore;
  }

 private:
  const ResourceNames& names_;
};

class GpuPacking final : public ScorePlugin {
 public:
  std::string_view name() const override { return "GpuPacking"; }

  std::unique_ptr<NodeScore> prepare(const PodShape& shape,
                                     const PrepareContext& context) const override {
    std::vector<ResourceAmount> gpus;
    for (const ResourceAmount& request : shape.requests) {
      if (is_gpu_resource(context.resources.name(request.resource))) gpus.push_back(request);
    }
    if (gpus.empty()) return std::make_unique<Apart>(context.resources);
    return std::make_unique<Packed>(std::move(gpus));
  }
};

}  // namespace

bool is_gpu_resource(std::string_view name) {
  return name == "nvidia.com/gpu" || name == "nvidia.com/gpu.shared" ||
         name.starts_with("nvidia.com/mig-");
}

PluginInstance make_gpu_packing(k8s::yaml::ObjectReader&) {
  PluginInstance instance;
  instance.score = std::make_unique<GpuPacking>();
  return instance;
}

}  // namespace plugins
