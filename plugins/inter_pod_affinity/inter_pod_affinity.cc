// InterPodAffinity: required affinity and anti-affinity between pods.
//
// Three demands, in the order in which they are reported for a node:
//   * the pod's own affinity: for each term the node carries its topologyKey, and in its domain
//     runs a pod that all terms select. While no such pod runs anywhere, a pod that its own terms
//     select may be the first, on any node that carries the keys;
//   * the pod's own anti-affinity: no pod that a term selects runs in the node's domain;
//   * the anti-affinity of running pods: in the node's domain runs no pod with a term that selects
//     the pod. Messages name no such pod, because it may be one of another namespace.
// A node without a term's key is in no domain of the term: there the term forbids nothing.
//
// Among the nodes that are left, a node is better if more pods that the pod prefers are near, and
// fewer that it prefers to avoid. A node's raw score is a sum over the pods in its domains: of the
// weights of the pod's preferred terms that select them, and of their preferred terms that select
// the pod. Their required affinity counts as well, with a weight of its own.
//
// The engine counts, once for all pods with equal terms. The plugin stores which terms running pods
// have, and the labels of namespaces. Source: kube-scheduler InterPodAffinity, Filter and Score.
#include "plugins/inter_pod_affinity/inter_pod_affinity.h"

#include "plugins/factories.h"
#include "plugins/inter_pod_affinity/preference.h"
#include "plugins/inter_pod_affinity/terms.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace plugins {

namespace {

using namespace sched;

constexpr std::string_view kInterPodAffinity = "InterPodAffinity";
constexpr std::string_view kAffinity = "node(s) didn't match pod affinity rules";
constexpr std::string_view kAntiAffinity = "node(s) didn't match pod anti-affinity rules";
constexpr std::string_view kExisting = "node(s) didn't satisfy existing pods anti-affinity rules";

using Selectors = std::shared_ptr<const std::vector<PodSelector>>;

// Counts each pod that all of these select as 1.
class Selected final : public Counted {
 public:
  Selected(Selectors by, std::shared_ptr<const Namespaces> namespaces)
      : by_(std::move(by)), namespaces_(std::move(namespaces)) {}

  std::int32_t amount(const PodClass& pod) const override {
    const k8s::StringMap& labels = namespaces_->labels_of(pod.namespace_);
    return std::all_of(by_->begin(), by_->end(),
                       [&](const PodSelector& selector) {
                         return selector.selects_for_its_pod(pod.namespace_, pod.labels, labels);
                       })
               ? 1
               : 0;
  }

 private:
  Selectors by_;
  std::shared_ptr<const Namespaces> namespaces_;
};

// Counts each pod with one of the terms in its required anti-affinity as 1.
class Holding final : public Counted {
 public:
  explicit Holding(TermRefs terms) : terms_(std::move(terms)) {}

  std::int32_t amount(const PodClass& pod) const override {
    const Terms has = required_terms(pod.anti_affinity, pod.namespace_);
    return std::any_of(has.begin(), has.end(),
                       [&](const Term& term) { return contains(terms_, term); })
               ? 1
               : 0;
  }
  std::size_t memory() const override { return terms_.size() * sizeof(TermRef); }

 private:
  TermRefs terms_;  // sorted
};

// Its counts: of the own affinity first, then of the own anti-affinity, then of the anti-affinity
// of running pods.
class AffinityRule final : public PodRule {
 public:
  void add(DomainCount count) { counts_.push_back(std::move(count)); }

  std::vector<DomainBound> bounds(std::span<const DomainCounts* const> counted) const override {
    const bool nowhere = std::all_of(counted.begin(), counted.begin() + first_anti_,
                                     [](const DomainCounts* each) { return each->total() == 0; });
    std::vector<DomainBound> bounds;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      DomainBound bound{.count = i, .plugin = kInterPodAffinity, .reason = kAffinity};
      if (i < static_cast<std::size_t>(first_anti_)) {
        bound.needs_label = true;
        if (!nowhere || !may_be_first_) bound.at_least = 1;
        bound.code = Code::kUnresolvable;
      } else {
        bound.at_most = 0;
        bound.reason = i < static_cast<std::size_t>(first_existing_) ? kAntiAffinity : kExisting;
      }
      bounds.push_back(bound);
    }
    return bounds;
  }

  std::ptrdiff_t first_anti_ = 0;
  std::ptrdiff_t first_existing_ = 0;
  bool may_be_first_ = false;  // the pod's own affinity selects it
};

class InterPodAffinity final : public ClusterConstraint {
 public:
  explicit InterPodAffinity(const InterPodAffinityArgs& args)
      : args_(args), numbered_with_("w" + std::to_string(args.hard_pod_affinity_weight) + ":") {}

  std::string_view name() const override { return kInterPodAffinity; }
  bool concerns(const k8s::Pod& /*pod*/) const override { return false; }

  bool is_ruled(const k8s::Pod& pod) const override {
    return !keeping_off_.none() ||
           (pod.spec.pod_affinity && !pod.spec.pod_affinity->required.empty()) ||
           (pod.spec.pod_anti_affinity && !pod.spec.pod_anti_affinity->required.empty());
  }

  std::unique_ptr<PodRule> rule_for(const k8s::Pod& pod,
                                    const PodDifference& trial) const override {
    auto rule = std::make_unique<AffinityRule>();
    const std::string& own = pod.metadata.namespace_;
    const k8s::StringMap& labels = namespaces_->labels_of(own);

    const Terms affinity = required_terms(pod.spec.pod_affinity, own);
    std::vector<PodSelector> all;
    std::vector<std::string> keys;
    for (const Term& term : affinity) {
      all.push_back(term.selector);
      keys.push_back(term.key);
    }
    for (DomainCount& count : selected(std::move(all), keys)) rule->add(std::move(count));
    rule->may_be_first_ = std::all_of(affinity.begin(), affinity.end(), [&](const Term& term) {
      return term.selector.selects_for_its_pod(own, pod.metadata.labels, labels);
    });
    rule->first_anti_ = std::ssize(rule->counts());

    for (const Term& term : required_terms(pod.spec.pod_anti_affinity, own)) {
      rule->add(std::move(selected({term.selector}, {term.key}).front()));
    }
    rule->first_existing_ = std::ssize(rule->counts());

    // One count for each key, however many terms there are.
    const Terms added = terms_of_added(trial, &InterPodAffinity::keeping_off);
    for (auto& [key, held] : keeping_off_.selecting(pod, labels, on_nodes_, added)) {
      rule->add({.id = "held:" + numbered_with_ + held.id,
                 .key = key,
                 .what = std::make_shared<Holding>(std::move(held.terms))});
    }
    return rule->counts().empty() ? nullptr : std::move(rule);
  }

  bool prefers(const k8s::Pod& pod) const override {
    return has_preferences(pod) ||
           (!args_.ignore_preferred_terms_of_existing_pods && !drawing_.none());
  }

  std::unique_ptr<PodPreference> preference_for(const k8s::Pod& pod,
                                                const PodDifference& trial) const override {
    const std::string& own = pod.metadata.namespace_;
    std::map<std::string, RunningTerms::Selecting> running;
    if (has_preferences(pod) || !args_.ignore_preferred_terms_of_existing_pods) {
      const Terms added =
          terms_of_added(trial, [this](const k8s::Pod& other) { return drawing(other); });
      running = drawing_.selecting(pod, namespaces_->labels_of(own), on_nodes_, added);
    }
    return make_preference(preferred_terms(pod.spec.pod_affinity, pod.spec.pod_anti_affinity, own),
                           std::move(running), args_.hard_pod_affinity_weight, namespaces_,
                           namespaces_version_, numbered_with_);
  }

  std::uint64_t rules_version() const override { return version_; }
  bool rules_changed(const k8s::Pod& pod, std::uint64_t since) const override {
    if (since < std::max(namespaces_version_, on_nodes_version_)) return true;
    const k8s::StringMap& labels = namespaces_->labels_of(pod.metadata.namespace_);
    return keeping_off_.newer_selects(pod, labels, on_nodes_, since) ||
           drawing_.newer_selects(pod, labels, on_nodes_, since);
  }

  ChangeMask reads() const override {
    return kNamespaceChanged | kNodeChanged | kBoundPodChanged | kBoundPodRemoved;
  }
  bool apply(const ClusterChange& change) override {
    if (const auto* pod = std::get_if<BoundPodUpserted>(&change)) {
      put(pod->pod);
    } else if (const auto* gone = std::get_if<BoundPodGone>(&change)) {
      forget(gone->uid);
    } else if (const auto* upserted = std::get_if<NamespaceUpserted>(&change)) {
      change_namespaces([&](Namespaces& all) { return all.set(upserted->object.metadata); });
    } else if (const auto* removed = std::get_if<NamespaceGone>(&change)) {
      change_namespaces([&](Namespaces& all) { return all.erase(removed->name); });
    } else if (const auto* node = std::get_if<NodeUpserted>(&change)) {
      if (on_nodes_.set(node->object.metadata)) on_nodes_version_ = ++version_;
    } else if (const auto* node_gone = std::get_if<NodeGone>(&change)) {
      if (on_nodes_.erase(node_gone->name)) on_nodes_version_ = ++version_;
    }
    return true;
  }

 private:
  static bool has_preferences(const k8s::Pod& pod) {
    return (pod.spec.pod_affinity && !pod.spec.pod_affinity->preferred.empty()) ||
           (pod.spec.pod_anti_affinity && !pod.spec.pod_anti_affinity->preferred.empty());
  }

  // The terms of a pod on a node that keep others off, and those that affect their scores.
  static Terms keeping_off(const k8s::Pod& pod) {
    return required_terms(pod.spec.pod_anti_affinity, pod.metadata.namespace_);
  }
  [[nodiscard]] Terms drawing(const k8s::Pod& pod) const {
    const std::string& in = pod.metadata.namespace_;
    Terms all;
    for (WeighedTerm& each :
         preferred_terms(pod.spec.pod_affinity, pod.spec.pod_anti_affinity, in)) {
      all.push_back(std::move(each.term));
    }
    if (args_.hard_pod_affinity_weight > 0) append(all, required_terms(pod.spec.pod_affinity, in));
    return all;
  }
  static void append(Terms& to, Terms from) {
    std::move(from.begin(), from.end(), std::back_inserter(to));
  }
  // Those of the pods that a trial adds: once for pods of one class, such as a group's replicas.
  template <typename TermsOf>
  static Terms terms_of_added(const PodDifference& trial, TermsOf&& terms_of) {
    Terms all;
    std::set<std::size_t> known;
    for (const PodDifference::Added& each : trial.added()) {
      if (each.of_class != 0 && !known.insert(each.of_class).second) continue;
      append(all, terms_of(*each.pod));
    }
    return all;
  }

  // Of each label, the pods that all of `by` select.
  std::vector<DomainCount> selected(std::vector<PodSelector> by,
                                    const std::vector<std::string>& keys) const {
    std::string text;
    bool reads_namespaces = false;
    for (const PodSelector& selector : by) {
      append_key(text, selector.key());
      reads_namespaces = reads_namespaces || selector.reads_namespaces();
    }
    if (reads_namespaces) text += "@" + numbered_with_ + std::to_string(namespaces_version_);
    text = digest_if_long(std::move(text));
    const auto what = std::make_shared<Selected>(
        std::make_shared<const std::vector<PodSelector>>(std::move(by)), namespaces_);
    std::vector<DomainCount> counts;
    for (const std::string& key : keys) {
      DomainCount& count = counts.emplace_back();
      count = {.id = "selected:", .key = key, .what = what};
      append_key(count.id, key);
      count.id += text;
    }
    return counts;
  }

  // Counts keep the version of the namespaces that they were made with.
  template <typename Change>
  void change_namespaces(Change&& change) {
    if (namespaces_.use_count() > 1) namespaces_ = std::make_shared<Namespaces>(*namespaces_);
    if (!change(*namespaces_)) return;
    namespaces_version_ = ++version_;
  }

  void forget(const std::string& uid) {
    keeping_off_.remove(uid);
    drawing_.remove(uid);
  }

  void put(const k8s::Pod& pod) {
    if (!pod.spec.pod_affinity && !pod.spec.pod_anti_affinity) return forget(pod.metadata.uid);
    drawing_.put(pod.metadata.uid, drawing(pod), version_);
    keeping_off_.put(pod.metadata.uid, keeping_off(pod), version_);
  }

  InterPodAffinityArgs args_;
  // Stands before every number in the id of a count. Each profile numbers terms and versions by
  // itself: profiles with another weight may number, and do weigh, other terms.
  std::string numbered_with_;
  RunningTerms keeping_off_;  // required anti-affinity
  RunningTerms drawing_;      // preferred terms, and required affinity
  std::shared_ptr<Namespaces> namespaces_ = std::make_shared<Namespaces>();
  NodeLabels on_nodes_;
  std::uint64_t version_ = 0;             // increased for each new term, and by the two below
  std::uint64_t namespaces_version_ = 0;  // the one in which namespaces changed last
  std::uint64_t on_nodes_version_ = 0;    // the one in which some label was new or gone
};

}  // namespace

PluginInstance make_inter_pod_affinity(const InterPodAffinityArgs& args) {
  return {.constraint = std::make_unique<InterPodAffinity>(args)};
}

PluginInstance make_inter_pod_affinity(k8s::yaml::ObjectReader& args) {
  InterPodAffinityArgs read;
  if (const auto weight = args.integer("hardPodAffinityWeight", {.min = 0, .max = 100})) {
    read.hard_pod_affinity_weight = static_cast<std::int32_t>(*weight);
  }
  read.ignore_preferred_terms_of_existing_pods =
      args.boolean("ignorePreferredTermsOfExistingPods").value_or(false);
  return make_inter_pod_affinity(read);
}

}  // namespace plugins
