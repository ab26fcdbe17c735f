#include "plugins/pod_topology_spread/pod_topology_spread.h"

#include "plugins/node_affinity/required_nodes.h"
#include "plugins/support/pod_selector.h"
#include "plugins/support/taints.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace plugins {

namespace {

using namespace sched;
using k8s::TopologySpreadConstraint;

constexpr std::string_view kPlugin = "PodTopologySpread";
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

class Spread final : public Counted {
 public:
  Spread(const k8s::Pod& pod, const TopologySpreadConstraint& constraint,
         std::vector<std::string> keys)
      : namespace_(pod.metadata.namespace_),
        selector_(selector_of(constraint, pod.metadata.labels)),
        keys_(std::move(keys)) {
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
  std::vector<std::string> keys_;                            // of all the pod's constraints
  std::optional<RequiredNodes> nodes_;                       // absent: any
  std::optional<std::vector<k8s::Toleration>> tolerations_;  // absent: taints do not matter
};

class Rule final : public PodRule {
 public:
  explicit Rule(const k8s::Pod& pod) {
    std::vector<std::string> keys;
    for (const TopologySpreadConstraint& each : pod.spec.topology_spread_constraints) {
      if (each.do_not_schedule) keys.push_back(each.topology_key);
    }
    for (const TopologySpreadConstraint& each : pod.spec.topology_spread_constraints) {
      if (!each.do_not_schedule) continue;
      auto what = std::make_shared<Spread>(pod, each, keys);
      std::string id = "spread:";
      append_key(id, each.topology_key);
      terms_.push_back({.max_skew = each.max_skew,
                        .min_domains = static_cast<std::size_t>(each.min_domains.value_or(1)),
                        .own = what->selects(pod) ? 1 : 0});
      counts_.push_back({.id = id + what->text(), .key = each.topology_key, .what = what});
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

class PodTopologySpread final : public ClusterConstraint {
 public:
  std::string_view name() const override { return kPlugin; }

  bool is_ruled(const k8s::Pod& pod) const override {
    const auto& all = pod.spec.topology_spread_constraints;
    return std::any_of(all.begin(), all.end(),
                       [](const auto& each) { return each.do_not_schedule; });
  }
  std::unique_ptr<PodRule> rule_for(const k8s::Pod& pod) const override {
    return std::make_unique<Rule>(pod);
  }
  bool apply(const ClusterChange&) override { return false; }
};

}  // namespace

PluginInstance make_pod_topology_spread(k8s::yaml::ObjectReader&) {
  PluginInstance instance;
  instance.constraint = std::make_unique<PodTopologySpread>();
  return instance;
}

}  // namespace plugins
