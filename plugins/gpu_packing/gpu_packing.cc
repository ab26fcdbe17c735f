#include "plugins/gpu_packing/gpu_packing.h"

#include "plugins/support/gpu_ask.h"
#include "plugins/support/share.h"
#include "plugins/usable_gpu/scoring.h"

#include <algorithm>
#include <utility>

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

// Nodes without GPUs first, then those whose GPUs are least missed without the CPU.
class Apart final : public NodeScore {
 public:
  // `on_gpu_nodes` may be null: they are all the same then. Theirs are at most `neutral`, since a
  // pod without GPU takes something away or nothing.
  Apart(const ResourceNames& names, std::unique_ptr<NodeScore> on_gpu_nodes, std::int64_t neutral)
      : names_(names), on_gpu_nodes_(std::move(on_gpu_nodes)), neutral_(neutral) {}

  std::int64_t score(const NodeView& node) const override {
    if (!has_gpu(node)) return neutral_ + kMaxScore;
    return on_gpu_nodes_ ? on_gpu_nodes_->score(node) : neutral_;
  }

 private:
  // Names are looked up per node: a kind of GPU may turn up after this was prepared.
  [[nodiscard]] bool has_gpu(const NodeView& node) const {
    for (std::size_t i = 0; i < node.facts.allocatable.size(); ++i) {
      const auto id = static_cast<ResourceId>(i);
      if (node.allocatable(id) > 0 && is_gpu_resource(names_.name(id))) return true;
    }
    return false;
  }

  const ResourceNames& names_;
  std::unique_ptr<NodeScore> on_gpu_nodes_;
  std::int64_t neutral_;
};

// What the pod asks for of each kind of GPU.
std::vector<ResourceAmount> kinds_of_gpu(const PodShape& shape, const ResourceNames& names,
                                         bool shares) {
  std::vector<ResourceAmount> kinds;
  for (const ResourceAmount& request : shape.requests) {
    const std::string& name = names.name(request.resource);
    if (is_gpu_resource(name) || (shares && name == gpu::kMilliResource)) kinds.push_back(request);
  }
  return kinds;
}

class GpuPacking final : public ScorePlugin {
 public:
  std::string_view name() const override { return "GpuPacking"; }
  std::int64_t max_score() const override { return usable_.max_score(); }
  bool reads_statistics() const override { return true; }

  std::unique_ptr<NodeScore> prepare(const PodShape& shape,
                                     const PrepareContext& context) const override {
    const GpuAsk ask = gpu_ask_of(shape, context);
    std::vector<ResourceAmount> kinds = kinds_of_gpu(shape, context.resources, ask.is_share());
    const bool measured = ask.gpus > 0 && kinds.size() == 1;
    auto usable = measured || kinds.empty() ? usable_.prepare(ask, context.cluster) : nullptr;
    if (kinds.empty()) {
      const std::int64_t neutral = usable ? usable_.neutral() : 0;
      return std::make_unique<Apart>(context.resources, std::move(usable), neutral);
    }
    if (usable) return usable;
    return std::make_unique<Packed>(std::move(kinds));
  }

 private:
  UsableGpuScoring usable_{UsableGpuArgs{}};
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
