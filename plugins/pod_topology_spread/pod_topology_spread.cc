#include "plugins/pod_topology_spread/pod_topology_spread.h"

#include "plugins/node_affinity/required_nodes.h"
#include "plugins/support/pod_selector.h"
#include "plugins/support/taints.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace plugins {

namespace {

using namespace sched;
using k8s::TopologySpreadConstraint;

constexpr std::string_view kPlugin = "PodTopologySpread";
constexpr std::string_view kHostname = "kubernetes.io/hostname";
constexpr std::string_view kSkewed = "node(s) didn't match pod topology spread constraints";
constexpr std::string_view kNoLabel =
    "node(s) didn't match pod topology spread constraints (missing required label)";

// The selector, and of matchLabelKeys what the pod's own labels say. An API server of today has put
// that into the selector when the pod was created; once more changes nothing.
std::optional<k8s::LabelSelector> selector_of(const TopologySpreadConstraint& constraint,
                                              const k8s::StringMap& labels) {
  std::optional<k8s::LabelSelector> selector = constraint.label_selector;
  if (!selector) return selector;
  for (const std::string& key : constraint.match_label_keys) {
    const std::string* value = labels.find(key);
    if (value == nullptr) continue;
    selector->match_expressions.push_back(
        {.key = key, .op = k8s::SelectorOperator::kIn, .values = {*value}});
  }
  return selector;
}

// The keys of the pod's constraints that are strict, or of those that are not.
std::vector<std::string> keys_of(const k8s::Pod& pod, bool strict) {
  std::vector<std::string> keys;
  for (const TopologySpreadConstraint& each : pod.spec.topology_spread_constraints) {
    if (each.do_not_schedule == strict) keys.push_back(each.topology_key);
  }
  return keys;
}

class Spread final : public Counted {
 public:
  // `on_all`: on whatever node, not on those alone that the constraint lets count.
  Spread(const k8s::Pod& pod, const TopologySpreadConstraint& constraint, bool on_all = false)
      : namespace_(pod.metadata.namespace_),
        selector_(selector_of(constraint, pod.metadata.labels)) {
    if (on_all) return;
    keys_ = keys_of(pod, constraint.do_not_schedule);
    if (constraint.node_affinity_honor) nodes_.emplace(pod.spec);
    if (constraint.node_taints_honor) tolerations_ = pod.spec.tolerations;
  }

  std::int32_t amount(const PodClass& pod) const override {
    // Upstream counts nothing by an empty selector, which selects every pod.
    const bool counts = selector_ && !selector_->empty() && pod.namespace_ == namespace_ &&
                        selector_->matches(pod.labels);
    return counts ? 1 : 0;
  }
  bool counts_terminating() const override { return false; }
  bool counts_on(const NodeFacts& node) const override {
    if (!std::all_of(keys_.begin(), keys_.end(),
                     [&](const std::string& key) { return node.labels.find(key) != nullptr; })) {
      return false;
    }
    if (nodes_ && !nodes_->match(node)) return false;
    return !tolerations_ || first_untolerated(node.taints, *tolerations_) == nullptr;
  }

  bool selects(const k8s::Pod& pod) const {
    return selector_ && selector_->matches(pod.metadata.labels);
  }
  // All of it as text.
  std::string text() const {
    std::string all;
    append_key(all, namespace_);
    append_key(all, selector_);
    for (const std::string& key : keys_) append_key(all, key);
    all += nodes_ ? "a" + nodes_->text() : "-";
    if (!tolerations_) return all;
    for (const k8s::Toleration& each : *tolerations_) {
      append_key(all, each.key);
      append_key(all, each.value);
      all += std::to_string(static_cast<int>(each.op)) + "," +
             (each.effect ? std::to_string(static_cast<int>(*each.effect)) : "-");
    }
    return all;
  }

 private:
  std::string namespace_;
  std::optional<k8s::LabelSelector> selector_;
  std::vector<std::string> keys_;                            // that a node must carry
  std::optional<RequiredNodes> nodes_;                       // absent: any
  std::optional<std::vector<k8s::Toleration>> tolerations_;  // absent: taints do not matter
};

DomainCount count_of(const TopologySpreadConstraint& constraint,
                     const std::shared_ptr<const Spread>& what) {
  DomainCount count{.id = "spread:", .key = constraint.topology_key, .what = what};
  append_key(count.id, constraint.topology_key);
  count.id += what->text();
  return count;
}

class Rule final : public PodRule {
 public:
  explicit Rule(const k8s::Pod& pod) {
    for (const TopologySpreadConstraint& each : pod.spec.topology_spread_constraints) {
      if (!each.do_not_schedule) continue;
      auto what = std::make_shared<Spread>(pod, each);
      terms_.push_back({.max_skew = each.max_skew,
                        .min_domains = static_cast<std::size_t>(each.min_domains.value_or(1)),
                        .own = what->selects(pod) ? 1 : 0});
      counts_.push_back(count_of(each, what));
    }
  }

  const std::vector<DomainCount>& counts() const override { return counts_; }

  std::vector<DomainBound> bounds(std::span<const DomainCounts* const> counted) const override {
    std::vector<DomainBound> bounds;
    for (std::size_t i = 0; i < terms_.size(); ++i) {
      const Term& term = terms_[i];
      bounds.push_back({.count = i,
                        .needs_label = true,
                        .plugin = kPlugin,
                        .reason = kNoLabel,
                        .code = Code::kUnresolvable});
      DomainBound skew{.count = i, .plugin = kPlugin, .reason = kSkewed};
      // Without any domain upstream's fewest is without bound, and so nothing is too many.
      const auto least = counted[i]->least();
      if (counted[i]->size() < term.min_domains) {
        skew.at_most = term.max_skew - term.own;
      } else if (least) {
        skew.at_most = *least + term.max_skew - term.own;
      }
      bounds.push_back(skew);
    }
    return bounds;
  }

 private:
  struct Term {
    std::int64_t max_skew = 1;
    std::size_t min_domains = 1;
    std::int64_t own = 0;  // what the pod itself adds
  };
  std::vector<Term> terms_;
  std::vector<DomainCount> counts_;  // by term
};

class Preference final : public PodPreference {
 public:
  explicit Preference(const k8s::Pod& pod) {
    for (const TopologySpreadConstraint& each : pod.spec.topology_spread_constraints) {
      if (each.do_not_schedule) continue;
      // A node's own pods count by node, whatever others have its name, and whatever the policies.
      const bool by_node = each.topology_key == kHostname;
      DomainCount count = count_of(each, std::make_shared<Spread>(pod, each, by_node));
      count.by_node = by_node;
      counts_.push_back(std::move(count));
      tolerated_.push_back(each.max_skew - 1);
    }
  }

  const std::vector<DomainCount>& counts() const override { return counts_; }
  bool needs_labels() const override { return true; }
  // A pod weighs more where there are more domains to choose from.
  std::vector<double> weights(std::span<const std::size_t> domains) const override {
    std::vector<double> weights;
    for (const std::size_t size : domains) {
      weights.push_back(std::log(static_cast<double>(size) + 2));
    }
    return weights;
  }
  std::int64_t raw(std::span<const std::int64_t> amounts,
                   std::span<const double> weights) const override {
    double all = 0;
    for (std::size_t i = 0; i < amounts.size(); ++i) {
      all += static_cast<double>(amounts[i]) * weights[i] + static_cast<double>(tolerated_[i]);
    }
    return std::llround(all);
  }
  std::int64_t score(std::int64_t raw, const Extremes& extremes) const override {
    const auto [min, max] = extremes;
    return max == 0 ? kMaxScore : kMaxScore * (max + min - raw) / max;
  }

 private:
  std::vector<DomainCount> counts_;
  std::vector<std::int32_t> tolerated_;  // by count, the skew that does not matter
};

class PodTopologySpread final : public ClusterConstraint {
 public:
  std::string_view name() const override { return kPlugin; }
  bool concerns(const k8s::Pod& /*pod*/) const override { return false; }

  bool is_ruled(const k8s::Pod& pod) const override {
    const auto& all = pod.spec.topology_spread_constraints;
    return std::any_of(all.begin(), all.end(),
                       [](const auto& each) { return each.do_not_schedule; });
  }
  std::unique_ptr<PodRule> rule_for(const k8s::Pod& pod) const override {
    return std::make_unique<Rule>(pod);
  }
  bool prefers(const k8s::Pod& pod) const override {
    const auto& all = pod.spec.topology_spread_constraints;
    return std::any_of(all.begin(), all.end(),
                       [](const auto& each) { return !each.do_not_schedule; });
  }
  std::unique_ptr<PodPreference> preference_for(const k8s::Pod& pod) const override {
    return std::make_unique<Preference>(pod);
  }
  ChangeMask reads() const override { return 0; }
  void apply(const ClusterChange&) override {}
};

}  // namespace

PluginInstance make_pod_topology_spread(k8s::yaml::ObjectReader&) {
  PluginInstance instance;
  instance.constraint = std::make_unique<PodTopologySpread>();
  return instance;
}

}  // namespace plugins
