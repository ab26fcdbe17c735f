// PodTopologySpread: how evenly pods must be, or preferably are, spread over domains.
//
// For each constraint with whenUnsatisfiable DoNotSchedule: the node carries the topologyKey, and
// with the pod there its domain has at most maxSkew more of the selected pods of the pod's
// namespace than the domain with the fewest. If there are fewer domains than minDomains, the fewest
// counts as 0. Pods that are being deleted do not count. A domain consists of the nodes that carry
// the keys of all the pod's constraints and that the constraint's nodeAffinityPolicy and
// nodeTaintsPolicy include.
//
// By constraints with ScheduleAnyway, a node is better if its domains have fewer of the selected
// pods; a node that lacks one of their keys scores 0. For the key hostname the pods on the node
// itself count.
//
// A pod without constraints of its own has the profile's default ones, if there are any, for the
// pods that it belongs with (default_selectors.h); if it belongs with none, it has none. With the
// system's defaults, for hosts and zones, a node without a zone is used as well: the missing label
// adds nothing to its score. Such nodes together count as one zone; upstream treats them as the
// zone with an empty name, here that is another zone.
//
// The engine counts, once for all pods with equal constraints. Source: kube-scheduler
// PodTopologySpread, Filter and Score.
#include "plugins/factories.h"
#include "plugins/node_affinity/required_nodes.h"
#include "plugins/pod_topology_spread/args.h"
#include "plugins/pod_topology_spread/default_selectors.h"
#include "plugins/support/pod_selector.h"
#include "scheduler/framework/taints.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace plugins {

namespace {

using namespace sched;
using k8s::TopologySpreadConstraint;

constexpr std::string_view kPodTopologySpread = "PodTopologySpread";
constexpr std::string_view kHostname = "kubernetes.io/hostname";
constexpr std::string_view kSkewed = "node(s) didn't match pod topology spread constraints";
constexpr std::string_view kNoLabel =
    "node(s) didn't match pod topology spread constraints (missing required label)";

// The selector with the pod's own labels for matchLabelKeys. A present API server has put these
// into the selector when the pod was created; to add them again changes nothing.
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

// The constraints of a pod: either those that are strict, or those that are not.
struct AskedSpread {
  std::vector<TopologySpreadConstraint> constraints;
  bool needs_all_keys = true;  // a node that lacks one of their keys does not count

  [[nodiscard]] std::vector<std::string> needed_keys() const {
    std::vector<std::string> keys;
    if (!needs_all_keys) return keys;
    for (const TopologySpreadConstraint& each : constraints) keys.push_back(each.topology_key);
    return keys;
  }
};

class Spread final : public Counted {
 public:
  // `keys`: a node must carry them. `on_all`: counts on all nodes, not only on those that the
  // constraint includes.
  Spread(const k8s::Pod& pod, const TopologySpreadConstraint& constraint,
         std::vector<std::string> keys, bool on_all = false)
      : namespace_(pod.metadata.namespace_),
        selector_(selector_of(constraint, pod.metadata.labels)) {
    if (on_all) return;
    keys_ = std::move(keys);
    if (constraint.node_affinity_honor) nodes_.emplace(pod.spec);
    if (constraint.node_taints_honor) tolerations_ = pod.spec.tolerations;
  }

  std::int32_t amount(const PodClass& pod) const override {
    // Upstream counts nothing by an empty selector, although that selects every pod.
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

class SpreadRule final : public PodRule {
 public:
  SpreadRule(const k8s::Pod& pod, const AskedSpread& asked) {
    const std::vector<std::string> keys = asked.needed_keys();
    for (const TopologySpreadConstraint& each : asked.constraints) {
      auto what = std::make_shared<Spread>(pod, each, keys);
      terms_.push_back({.max_skew = each.max_skew,
                        .min_domains = static_cast<std::size_t>(each.min_domains.value_or(1)),
                        .own = what->selects(pod) ? 1 : 0});
      counts_.push_back(count_of(each, what));
    }
  }

  std::vector<DomainBound> bounds(std::span<const DomainCounts* const> counted) const override {
    std::vector<DomainBound> bounds;
    for (std::size_t i = 0; i < terms_.size(); ++i) {
      const Term& term = terms_[i];
      bounds.push_back({.count = i,
                        .needs_label = true,
                        .plugin = kPodTopologySpread,
                        .reason = kNoLabel,
                        .code = Code::kUnresolvable});
      DomainBound skew{.count = i, .plugin = kPodTopologySpread, .reason = kSkewed};
      // If there is no domain, upstream's minimum is the largest integer, so no number of pods is
      // too large.
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
};

class SpreadPreference final : public PodPreference {
 public:
  SpreadPreference(const k8s::Pod& pod, const AskedSpread& asked)
      : needs_labels_(asked.needs_all_keys) {
    const std::vector<std::string> keys = asked.needed_keys();
    for (const TopologySpreadConstraint& each : asked.constraints) {
      // The pods of a node count by node, even if other nodes have its hostname, and whatever the
      // policies.
      const bool by_node = each.topology_key == kHostname;
      DomainCount count = count_of(each, std::make_shared<Spread>(pod, each, keys, by_node));
      count.by_node = by_node;
      counts_.push_back(std::move(count));
      tolerated_.push_back(each.max_skew - 1);
    }
  }

  bool needs_labels() const override { return needs_labels_; }
  // A pod weighs more if there are more domains to choose from.
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
      if (amounts[i] == kNoAmount) continue;
      all += static_cast<double>(amounts[i]) * weights[i] + static_cast<double>(tolerated_[i]);
    }
    return std::llround(all);
  }
  std::int64_t score(std::int64_t raw, const Extremes& extremes) const override {
    const auto [min, max] = extremes;
    return max == 0 ? kMaxScore : kMaxScore * (max + min - raw) / max;
  }

 private:
  bool needs_labels_ = true;
  std::vector<std::int32_t> tolerated_;  // by count, the skew that does not matter
};

class PodTopologySpread final : public ClusterConstraint {
 public:
  explicit PodTopologySpread(PodTopologySpreadArgs args)
      : args_(std::move(args)),
        spreads_by_default_{has_some(args_.default_constraints, false),
                            has_some(args_.default_constraints, true)} {}

  std::string_view name() const override { return kPodTopologySpread; }
  bool concerns(const k8s::Pod& /*pod*/) const override { return false; }

  bool is_ruled(const k8s::Pod& pod) const override { return asks(pod, true); }
  std::unique_ptr<PodRule> rule_for(const k8s::Pod& pod,
                                    const PodDifference& /*trial*/) const override {
    const AskedSpread asked = asked_of(pod, true);
    return asked.constraints.empty() ? nullptr : std::make_unique<SpreadRule>(pod, asked);
  }
  bool prefers(const k8s::Pod& pod) const override { return asks(pod, false); }
  std::unique_ptr<PodPreference> preference_for(const k8s::Pod& pod,
                                                const PodDifference& /*trial*/) const override {
    const AskedSpread asked = asked_of(pod, false);
    return asked.constraints.empty() ? nullptr : std::make_unique<SpreadPreference>(pod, asked);
  }
  // The pods that it is spread with by default.
  std::string reads_besides(const k8s::Pod& pod) const override {
    if (args_.default_constraints.empty() || has_own(pod)) return {};
    const k8s::LabelSelector selector = selectors_.of(pod);
    std::string text;
    if (!selector.empty()) append_key(text, selector);
    return text;
  }

  ChangeMask reads() const override {
    return args_.default_constraints.empty() ? 0 : kSelectorChanged;
  }
  bool apply(const ClusterChange& change) override {
    const bool selects_others = std::visit(
        [this]<typename Change>(const Change& what) {
          if constexpr (requires { selectors_.set(what.object); }) {
            return selectors_.set(what.object);
          } else {
            return erase(what);
          }
        },
        change);
    // Only strict constraints can keep a pod waiting; preferences cannot.
    return selects_others && spreads_by_default_[1];
  }

 private:
  static bool has_some(const std::vector<TopologySpreadConstraint>& all, bool strict) {
    return std::any_of(all.begin(), all.end(),
                       [&](const auto& each) { return each.do_not_schedule == strict; });
  }
  static bool has_own(const k8s::Pod& pod) { return !pod.spec.topology_spread_constraints.empty(); }
  bool asks(const k8s::Pod& pod, bool strict) const {
    if (has_own(pod)) return has_some(pod.spec.topology_spread_constraints, strict);
    return spreads_by_default_[strict ? 1 : 0] && DefaultSelectors::may_have(pod);
  }

  // The pod's own constraints, or the default ones if it has none: only the strict ones, or only
  // the others.
  AskedSpread asked_of(const k8s::Pod& pod, bool strict) const {
    AskedSpread asked;
    const bool own = has_own(pod);
    const auto& all = own ? pod.spec.topology_spread_constraints : args_.default_constraints;
    std::copy_if(all.begin(), all.end(), std::back_inserter(asked.constraints),
                 [&](const auto& each) { return each.do_not_schedule == strict; });
    if (own || asked.constraints.empty()) return asked;
    const k8s::LabelSelector selector = selectors_.of(pod);
    if (selector.empty()) return {};
    for (TopologySpreadConstraint& each : asked.constraints) each.label_selector = selector;
    asked.needs_all_keys = !args_.system_defaults;
    return asked;
  }

  bool erase(const ObjectGone<k8s::Service>& gone) {
    return selectors_.erase_service(gone.namespace_, gone.name);
  }
  bool erase(const ObjectGone<k8s::ReplicationController>& gone) {
    return selectors_.erase_replication_controller(gone.namespace_, gone.name);
  }
  bool erase(const ObjectGone<k8s::ReplicaSet>& gone) {
    return selectors_.erase_replica_set(gone.namespace_, gone.name);
  }
  bool erase(const ObjectGone<k8s::StatefulSet>& gone) {
    return selectors_.erase_stateful_set(gone.namespace_, gone.name);
  }
  template <typename Change>
  static bool erase(const Change& /*of another kind*/) {
    return false;
  }

  PodTopologySpreadArgs args_;
  std::array<bool, 2> spreads_by_default_;  // whether there are preferences / strict constraints
  DefaultSelectors selectors_;
};

}  // namespace

PluginInstance make_pod_topology_spread(k8s::yaml::ObjectReader& args) {
  return {.constraint = std::make_unique<PodTopologySpread>(read_pod_topology_spread_args(args))};
}

}  // namespace plugins
