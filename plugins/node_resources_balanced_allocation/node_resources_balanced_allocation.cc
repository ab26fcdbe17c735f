// NodeResourcesBalancedAllocation: the more evenly a node's resources are taken, the better.
//
// The imbalance is the standard deviation of the taken shares of the listed resources, 1 at most
// each. A node scores by how much better or worse the pod makes it: 75 if it does not change, 50 …
// 100. Resources that the node does not have do not count, nor extended ones that the pod does not
// ask for; a pod that asks for none of them is not scored.
//
// Source: kube-scheduler 1.36 NodeResourcesBalancedAllocation; until 1.35 what counted was the
// imbalance with the pod alone. Arguments: `resources`, as upstream; cpu and memory by default.
#include "plugins/factories.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plugins {

namespace {

using namespace sched;

struct AskedAmount {
  ResourceId resource{};
  std::int64_t amount = 0;
};

class Balance final : public NodeScore {
 public:
  explicit Balance(std::vector<AskedAmount> asked) : asked_(std::move(asked)) {}

  std::int64_t score(const NodeView& node) const override {
    return kMaxScore / 2 + (kMaxScore / 2 + evenness(node, true) - evenness(node, false)) / 2;
  }

 private:
  // Integers and fractions in kube-scheduler's order, so that the rounding is equal.
  std::int64_t evenness(const NodeView& node, bool with_pod) const {
    std::vector<double> shares;
    for (const AskedAmount& each : asked_) {
      const std::int64_t all = node.allocatable(each.resource);
      if (all == 0) continue;
      const std::int64_t taken = node.requested(each.resource);
      const std::int64_t there = with_pod ? saturating_add(taken, each.amount) : taken;
      shares.push_back(std::min(1.0, static_cast<double>(there) / static_cast<double>(all)));
    }
    return static_cast<std::int64_t>((1 - deviation(shares)) * static_cast<double>(kMaxScore));
  }

  static double deviation(const std::vector<double>& shares) {
    if (shares.size() < 2) return 0;
    if (shares.size() == 2) return std::abs((shares[0] - shares[1]) / 2);
    const auto size = static_cast<double>(shares.size());
    const double mean = std::accumulate(shares.begin(), shares.end(), 0.0) / size;
    double sum = 0;
    for (const double share : shares) sum += (share - mean) * (share - mean);
    return std::sqrt(sum / size);
  }

  std::vector<AskedAmount> asked_;
};

class BalancedAllocation final : public ScorePlugin {
 public:
  explicit BalancedAllocation(std::vector<std::string> resources)
      : resources_(std::move(resources)) {}

  std::string_view name() const override { return "NodeResourcesBalancedAllocation"; }

  std::unique_ptr<NodeScore> prepare(const PodShape& shape,
                                     const PrepareContext& context) const override {
    std::vector<AskedAmount> asked;
    bool some = false;
    for (const std::string& name : resources_) {
      const auto id = context.resources.find(name);
      if (!id) continue;
      const std::int64_t amount = shape.request(*id);
      if (amount == 0 && is_scalar_resource(name)) continue;
      some = some || amount != 0;
      asked.push_back({*id, amount});
    }
    return some ? std::make_unique<Balance>(std::move(asked)) : nullptr;
  }

 private:
  std::vector<std::string> resources_;
};

}  // namespace

PluginInstance make_node_resources_balanced_allocation(k8s::yaml::ObjectReader& args) {
  std::vector<std::string> resources;
  args.objects("resources", [&](k8s::yaml::ObjectReader& reader) {
    const std::string name = reader.string("name").value_or("");
    if (name.empty()) reader.complain("name", "is missing, such as cpu");
    // All weights are equal; upstream refuses other weights, too.
    reader.integer("weight", {.min = 1, .max = 1});
    resources.push_back(name);
  });
  if (resources.empty()) resources = {"cpu", "memory"};
  return {.score = std::make_unique<BalancedAllocation>(std::move(resources))};
}

}  // namespace plugins
