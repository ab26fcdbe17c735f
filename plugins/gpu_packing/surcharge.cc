#include "plugins/gpu_packing/surcharge.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace plugins {

namespace {

using namespace sched;

// Larger pods pay no more per step.
constexpr std::int64_t kMostChargedGpus = 8;

// Whether no pod takes a GPU, or a piece of one, on the node.
bool is_untouched(const NodeView& node) {
  const auto& gpu_pods = node.usage.gpu_pods;
  if (std::any_of(gpu_pods.begin(), gpu_pods.end(), [](std::uint32_t pods) { return pods > 0; })) {
    return false;
  }
  const auto& instances = node.facts.gpu.instances;
  return std::none_of(instances.begin(), instances.end(), [&](const gpu::MigInstances& each) {
    return node.requested(each.resource) > 0;
  });
}

class Priced final : public NodeScore {
 public:
  struct Prices {
    std::int64_t start = 0;
    std::int64_t step = 0;  // 0: types have no price for the pod
    const std::vector<gpu::TypeName>& types;
    std::int64_t most = 0;
  };

  Priced(std::unique_ptr<NodeScore> base, const Prices& prices)
      : base_(std::move(base)), prices_(prices) {}

  std::int64_t score(const NodeView& node) const override {
    std::int64_t price = prices_.start > 0 && is_untouched(node) ? prices_.start : 0;
    if (prices_.step > 0) price += prices_.step * static_cast<std::int64_t>(rank(node));
    return (base_ ? base_->score(node) : 0) + prices_.most - price;
  }

  std::optional<gpu::DeviceShare> choose_device(const NodeView& node) const override {
    return base_ ? base_->choose_device(node) : std::nullopt;
  }

 private:
  [[nodiscard]] std::size_t rank(const NodeView& node) const {
    const gpu::Product& product = node.facts.gpu.product;
    const auto found =
        std::find_if(prices_.types.begin(), prices_.types.end(),
                     [&](const gpu::TypeName& type) { return gpu::matches(type, product); });
    return static_cast<std::size_t>(found - prices_.types.begin());
  }

  std::unique_ptr<NodeScore> base_;
  Prices prices_;
};

bool says_product(const k8s::NodeSelectorTerm& term) {
  return std::any_of(
      term.match_expressions.begin(), term.match_expressions.end(),
      [](const k8s::SelectorRequirement& each) { return each.key == gpu::kProductLabel; });
}

// Whether the pod requires or prefers certain GPUs.
bool cares(const PodShape& shape) {
  const gpu::Wishes& wishes = shape.wishes;
  if (!shape.gpu.products.empty() || !wishes.types.empty() || wishes.min_memory > 0 ||
      wishes.min_compute.is_known() || !wishes.known_profiles.empty()) {
    return true;
  }
  if (!shape.node_affinity) return false;
  const auto& preferred = shape.node_affinity->preferred;
  return std::any_of(preferred.begin(), preferred.end(), [](const k8s::PreferredNodeTerm& each) {
    return says_product(each.preference);
  });
}

}  // namespace

Surcharge::Surcharge(const GpuPackingArgs& args, std::int64_t quantum)
    : start_price_(args.keep_whole_nodes / quantum),
      price_of_a_gpu_(2 * gpu::kMilliPerGpu / quantum),
      types_(args.cheap_types_first) {}

std::int64_t Surcharge::most_type_price() const {
  return static_cast<std::int64_t>(types_.size()) * price_of_a_gpu_ * kMostChargedGpus;
}

std::unique_ptr<NodeScore> Surcharge::on_top_of(std::unique_ptr<NodeScore> base,
                                                const PodShape& shape, const GpuAsk& ask) const {
  const std::int64_t gpus = std::clamp<std::int64_t>(ask.gpus, 1, kMostChargedGpus);
  const std::int64_t step = types_.empty() || cares(shape) ? 0 : price_of_a_gpu_ * gpus;
  if (start_price_ == 0 && step == 0) return base;
  return std::make_unique<Priced>(
      std::move(base),
      Priced::Prices{.start = start_price_, .step = step, .types = types_, .most = most()});
}

}  // namespace plugins
