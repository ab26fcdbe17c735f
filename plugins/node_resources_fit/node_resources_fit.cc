// NodeResourcesFit: a pod fits on a node with enough free resources. The fuller node is better, or
// the emptier one, or one that is as full as configured.
//
// Filter: every resource that the pod takes, and its place among the node's pods. All shortages are
// reported. If a request is more than the node's whole capacity, the verdict is unresolvable: no
// eviction helps there. Score: by `scoringStrategy` over the listed resources; cpu and memory count
// with defaults for containers that name none. Argument names are kube-scheduler's
// NodeResourcesFitArgs.
#include "plugins/factories.h"
#include "plugins/node_resources_fit/args.h"
#include "plugins/node_resources_fit/exact_amount.h"
#include "plugins/support/share.h"

#include <fmt/format.h>

#include <algorithm>

namespace plugins {

namespace {

using namespace sched;

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_ignored(const NodeResourcesFitArgs& args, const std::string& name) {
  if (!is_extended_resource(name)) return false;
  return contains(args.ignored_resources, name) ||
         contains(args.ignored_resource_groups, name.substr(0, name.find('/')));
}

// Reason 0 is the number of pods, reason i + 1 the i-th resource that the pod takes.
class FitCheck final : public NodeFilter {
 public:
  FitCheck(const NodeResourcesFitArgs& args, const PodShape& shape, const ResourceNames& names)
      : names_(names) {
    reasons_.emplace_back("Too many pods");
    for (const ResourceAmount& request : shape.requests) {
      const std::string& name = names.name(request.resource);
      if (is_ignored(args, name)) continue;
      asked_.push_back(request);
      reasons_.push_back("Insufficient " + name);
    }
    static_assert(kMostResourcesOfPod < Verdict::kMaxReasons);
  }

  Verdict check(const NodeView& node) const override {
    std::uint64_t reasons = 0;
    bool unresolvable = false;
    if (node.free(kPods) < 1) reasons |= 1U;
    for (std::size_t i = 0; i < asked_.size(); ++i) {
      const auto [resource, amount] = asked_[i];
      if (amount <= node.free(resource)) continue;
      reasons |= std::uint64_t{1} << (i + 1);
      unresolvable |= amount > node.allocatable(resource);
    }
    if (reasons == 0) return Verdict::ok();
    return unresolvable ? Verdict::unresolvable(reasons) : Verdict::unschedulable(reasons);
  }

  std::int64_t least_free(ResourceId resource) const override {
    const auto asked = std::find_if(asked_.begin(), asked_.end(),
                                    [&](const auto& each) { return each.resource == resource; });
    return asked == asked_.end() ? 0 : asked->amount;
  }

  const std::vector<std::string>& reasons() const override { return reasons_; }

  std::optional<Shortage> shortage(const NodeView& node, unsigned index) const override {
    return shortage_of(node, index);
  }

  std::string numbers(const NodeView& node, unsigned index) const override {
    const Shortage found = shortage_of(node, index);
    const std::string& name = names_.name(found.resource);
    const auto text = [&](std::int64_t amount) { return exact_amount(name, amount); };
    std::string numbers =
        fmt::format("{}: asked {}, free {} of {}", name, text(found.asked),
                    text(std::max<std::int64_t>(found.free, 0)), text(found.capacity));
    if (found.free < 0) {
      numbers += fmt::format("; its pods take {}, more than the node offers",
                             text(node.requested(found.resource)));
    }
    return numbers;
  }

 private:
  // Every reason is an amount.
  Shortage shortage_of(const NodeView& node, unsigned index) const {
    const ResourceAmount asked = index == 0 ? ResourceAmount{kPods, 1} : asked_[index - 1];
    return {.resource = asked.resource,
            .asked = asked.amount,
            .free = node.free(asked.resource),
            .capacity = node.allocatable(asked.resource)};
  }

  const ResourceNames& names_;
  std::vector<ResourceAmount> asked_;
  std::vector<std::string> reasons_;
};

class FitFilter final : public FilterPlugin {
 public:
  explicit FitFilter(NodeResourcesFitArgs args) : args_(std::move(args)) {}

  std::string_view name() const override { return "NodeResourcesFit"; }

  FilterPreparation prepare(const PodShape& shape, const PrepareContext& context) const override {
    FilterPreparation preparation;
    if (shape.too_many_resources) {
      preparation.rejection =
          fmt::format("pod asks for more than {} different resources", kMostResourcesOfPod);
      return preparation;
    }
    preparation.filter = std::make_unique<FitCheck>(args_, shape, context.resources);
    return preparation;
  }

 private:
  NodeResourcesFitArgs args_;
};

// One resource of the strategy, for one shape.
struct Scored {
  ResourceId resource{};
  std::int64_t asked = 0;
  std::int64_t weight = 1;
};

// How much of the resource would be taken of the node, with the pod.
std::int64_t taken(const NodeView& node, const Scored& each) {
  const auto on_node = [&] {
    if (each.resource == kCpu) return node.usage.nonzero.cpu;
    if (each.resource == kMemory) return node.usage.nonzero.memory;
    return node.requested(each.resource);
  };
  return saturating_add(on_node(), each.asked);
}

// The weighted mean, over the resources that the node has, of the share that would be taken (or
// would be free).
class Mean final : public NodeScore {
 public:
  Mean(NodeResourcesFitArgs::Strategy strategy, std::vector<Scored> scored)
      : strategy_(strategy), scored_(std::move(scored)) {}

  std::int64_t score(const NodeView& node) const override {
    std::int64_t sum = 0;
    std::int64_t weights = 0;
    for (const Scored& each : scored_) {
      const std::int64_t capacity = node.allocatable(each.resource);
      if (capacity <= 0) continue;
      sum += each.weight * one_score(taken(node, each), capacity);
      weights += each.weight;
    }
    return weights == 0 ? 0 : sum / weights;
  }

 private:
  std::int64_t one_score(std::int64_t taken, std::int64_t capacity) const {
    if (strategy_ == NodeResourcesFitArgs::Strategy::kMostAllocated) {
      return percentage(std::min(taken, capacity), capacity);
    }
    return taken > capacity ? 0 : percentage(capacity - taken, capacity);
  }

  NodeResourcesFitArgs::Strategy strategy_;
  std::vector<Scored> scored_;
};

// The weighted mean of each resource's score by utilization. As with kube-scheduler, a resource
// with the score 0 does not count, and the mean is rounded.
class MeanByUtilization final : public NodeScore {
 public:
  // `shape` outlives it.
  MeanByUtilization(const std::vector<UtilizationPoint>& shape, std::vector<Scored> scored)
      : shape_(shape), scored_(std::move(scored)) {}

  std::int64_t score(const NodeView& node) const override {
    std::int64_t sum = 0;
    std::int64_t weights = 0;
    for (const Scored& each : scored_) {
      const std::int64_t capacity = node.allocatable(each.resource);
      if (capacity <= 0) continue;
      const std::int64_t utilization = percentage(std::min(taken(node, each), capacity), capacity);
      const std::int64_t score = score_at(shape_, utilization);
      if (score == 0) continue;
      sum += each.weight * score;
      weights += each.weight;
    }
    return weights == 0 ? 0 : (2 * sum + weights) / (2 * weights);
  }

 private:
  const std::vector<UtilizationPoint>& shape_;
  std::vector<Scored> scored_;
};

class FitScore final : public ScorePlugin {
 public:
  explicit FitScore(NodeResourcesFitArgs args) : args_(std::move(args)) {}

  std::string_view name() const override { return "NodeResourcesFit"; }

  std::unique_ptr<NodeScore> prepare(const PodShape& shape,
                                     const PrepareContext& context) const override {
    std::vector<Scored> scored;
    for (const NodeResourcesFitArgs::Weighted& each : args_.resources) {
      // A pod does not ask for a name that is not known.
      const auto id = context.resources.find(each.name);
      if (!id) continue;
      const std::int64_t asked = asked_of(shape, *id);
      if (asked == 0 && is_scalar_resource(each.name)) continue;
      scored.push_back({.resource = *id, .asked = asked, .weight = each.weight});
    }
    if (args_.strategy == NodeResourcesFitArgs::Strategy::kByUtilization) {
      return std::make_unique<MeanByUtilization>(args_.shape, std::move(scored));
    }
    return std::make_unique<Mean>(args_.strategy, std::move(scored));
  }

 private:
  static std::int64_t asked_of(const PodShape& shape, ResourceId resource) {
    if (resource == kCpu) return shape.nonzero.cpu;
    if (resource == kMemory) return shape.nonzero.memory;
    return shape.request(resource);
  }

  NodeResourcesFitArgs args_;
};

}  // namespace

PluginInstance make_node_resources_fit(k8s::yaml::ObjectReader& args) {
  const NodeResourcesFitArgs read = read_node_resources_fit_args(args);
  return {.filter = std::make_unique<FitFilter>(read), .score = std::make_unique<FitScore>(read)};
}

}  // namespace plugins
