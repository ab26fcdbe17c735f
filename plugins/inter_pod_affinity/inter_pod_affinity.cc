#include "plugins/inter_pod_affinity/inter_pod_affinity.h"

#include "plugins/support/pod_selector.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace plugins {

namespace {

using namespace sched;

constexpr std::string_view kPlugin = "InterPodAffinity";
constexpr std::string_view kAffinity = "node(s) didn't match pod affinity rules";
constexpr std::string_view kAntiAffinity = "node(s) didn't match pod anti-affinity rules";
constexpr std::string_view kExisting = "node(s) didn't satisfy existing pods anti-affinity rules";

struct Term {
  PodSelector selector;
  std::string key;  // topologyKey
  friend auto operator<=>(const Term&, const Term&) = default;
};
using Terms = std::vector<Term>;

Terms required_terms(const std::optional<k8s::PodAffinity>& affinity, const std::string& in) {
  Terms terms;
  if (!affinity) return terms;
  for (const k8s::PodAffinityTerm& term : affinity->required) {
    terms.push_back({PodSelector(term, in), term.topology_key});
  }
  return terms;
}

// The labels of the namespaces that are there, by name.
class Namespaces {
 public:
  [[nodiscard]] const k8s::StringMap& labels_of(const std::string& name) const {
    static const k8s::StringMap kNone;
    const auto found = labels_.find(name);
    return found == labels_.end() ? kNone : found->second;
  }
  // True: something changed.
  bool set(const k8s::ObjectMeta& namespace_) {
    const auto [known, is_new] = labels_.try_emplace(namespace_.name);
    return std::exchange(known->second, namespace_.labels) != namespace_.labels || is_new;
  }
  bool erase(const std::string& name) { return labels_.erase(name) > 0; }

 private:
  std::unordered_map<std::string, k8s::StringMap> labels_;
};

// Pods that all of these select, one each.
class Selected final : public Counted {
 public:
  Selected(std::vector<PodSelector> by, std::shared_ptr<const Namespaces> namespaces)
      : by_(std::move(by)), namespaces_(std::move(namespaces)) {}

  std::int32_t amount(const PodClass& pod) const override {
    const k8s::StringMap& labels = namespaces_->labels_of(pod.namespace_);
    return std::all_of(by_.begin(), by_.end(),
                       [&](const PodSelector& selector) {
                         return selector.selects_for_its_pod(pod.namespace_, pod.labels, labels);
                       })
               ? 1
               : 0;
  }

 private:
  std::vector<PodSelector> by_;
  std::shared_ptr<const Namespaces> namespaces_;
};

// Pods that have one of the terms in their required anti-affinity, one each.
class Holding final : public Counted {
 public:
  explicit Holding(Terms terms) : terms_(std::move(terms)) {}

  std::int32_t amount(const PodClass& pod) const override {
    const Terms has = required_terms(pod.anti_affinity, pod.namespace_);
    return std::any_of(has.begin(), has.end(),
                       [&](const Term& term) {
                         return std::binary_search(terms_.begin(), terms_.end(), term);
                       })
               ? 1
               : 0;
  }

 private:
  Terms terms_;  // sorted
};

class Rule final : public PodRule {
 public:
  const std::vector<DomainCount>& counts() const override { return counts_; }

  std::vector<DomainBound> bounds(std::span<const DomainCounts* const> counted) const override {
    const bool nowhere = std::all_of(counted.begin(), counted.begin() + first_anti_,
                                     [](const DomainCounts* each) { return each->total() == 0; });
    std::vector<DomainBound> bounds;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      DomainBound bound{.count = i, .plugin = kPlugin, .reason = kAffinity};
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

  // Own affinity first, then own anti-affinity, then that of running pods.
  std::vector<DomainCount> counts_;
  std::ptrdiff_t first_anti_ = 0;
  std::ptrdiff_t first_existing_ = 0;
  bool may_be_first_ = false;  // the pod is one that its own affinity selects
};

class InterPodAffinity final : public ClusterConstraint {
 public:
  std::string_view name() const override { return kPlugin; }

  bool is_ruled(const k8s::Pod& pod) const override {
    return !terms_.empty() || (pod.spec.pod_affinity && !pod.spec.pod_affinity->required.empty()) ||
           (pod.spec.pod_anti_affinity && !pod.spec.pod_anti_affinity->required.empty());
  }

  std::unique_ptr<PodRule> rule_for(const k8s::Pod& pod) const override {
    auto rule = std::make_unique<Rule>();
    const std::string& own = pod.metadata.namespace_;
    const k8s::StringMap& labels = namespaces_->labels_of(own);

    const Terms affinity = required_terms(pod.spec.pod_affinity, own);
    std::vector<PodSelector> all;
    for (const Term& term : affinity) all.push_back(term.selector);
    for (const Term& term : affinity) rule->counts_.push_back(selected(all, term.key));
    rule->may_be_first_ = std::all_of(affinity.begin(), affinity.end(), [&](const Term& term) {
      return term.selector.selects_for_its_pod(own, pod.metadata.labels, labels);
    });
    rule->first_anti_ = std::ssize(rule->counts_);

    for (const Term& term : required_terms(pod.spec.pod_anti_affinity, own)) {
      rule->counts_.push_back(selected({term.selector}, term.key));
    }
    rule->first_existing_ = std::ssize(rule->counts_);

    // One count for each key, however many terms there are.
    std::map<std::string, Kept> by_key;
    for (const auto& [term, held] : terms_) {
      if (!term.selector.selects(pod, labels)) continue;
      Kept& kept = by_key[term.key];
      kept.terms.push_back(term);
      kept.numbers += "," + std::to_string(held.number);
    }
    for (auto& [key, kept] : by_key) {
      rule->counts_.push_back({.id = "held:" + kept.numbers,
                               .key = key,
                               .what = std::make_shared<Holding>(std::move(kept.terms))});
    }
    return rule->counts_.empty() ? nullptr : std::move(rule);
  }

  std::uint64_t rules_version() const override { return version_; }

  bool apply(const ClusterChange& change) override {
    if (const auto* pod = std::get_if<BoundPodUpserted>(&change)) {
      put(pod->pod);
    } else if (const auto* gone = std::get_if<BoundPodGone>(&change)) {
      remove(gone->uid);
    } else if (const auto* upserted = std::get_if<NamespaceUpserted>(&change)) {
      change_namespaces([&](Namespaces& all) { return all.set(upserted->object.metadata); });
    } else if (const auto* removed = std::get_if<NamespaceGone>(&change)) {
      change_namespaces([&](Namespaces& all) { return all.erase(removed->name); });
    }
    return false;  // it refuses no pod as a whole
  }

 private:
  // The pods that have a term. A node of a map stays where it is, so a pod remembers its terms by
  // pointer.
  struct Held {
    std::uint64_t number = 0;  // given to no other term
    std::size_t pods = 0;
  };
  using Holders = std::map<Term, Held>;
  // Terms of one key that select a pod.
  struct Kept {
    Terms terms;
    std::string numbers;
  };

  DomainCount selected(const std::vector<PodSelector>& by, const std::string& key) const {
    DomainCount count{.id = "selected:", .key = key, .what = nullptr};
    append_key(count.id, key);
    bool reads_namespaces = false;
    for (const PodSelector& selector : by) {
      append_key(count.id, selector.key());
      reads_namespaces = reads_namespaces || selector.reads_namespaces();
    }
    if (reads_namespaces) count.id += "@" + std::to_string(namespaces_version_);
    count.what = std::make_shared<Selected>(by, namespaces_);
    return count;
  }

  // Counts keep the namespaces that they were made with.
  template <typename Change>
  void change_namespaces(Change&& change) {
    if (namespaces_.use_count() > 1) namespaces_ = std::make_shared<Namespaces>(*namespaces_);
    if (!change(*namespaces_)) return;
    ++namespaces_version_;
    ++version_;
  }

  void put(const k8s::Pod& pod) {
    Terms terms = required_terms(pod.spec.pod_anti_affinity, pod.metadata.namespace_);
    if (terms.empty()) return remove(pod.metadata.uid);
    std::vector<Holders::value_type*> held;
    for (Term& term : terms) {
      const auto [known, is_new] = terms_.try_emplace(std::move(term));
      if (is_new) known->second.number = ++version_;
      ++known->second.pods;
      held.push_back(&*known);
    }
    // Only then, lest a term be let go and come back as a new one.
    remove(pod.metadata.uid);
    pods_.emplace(pod.metadata.uid, std::move(held));
  }

  void remove(const std::string& uid) {
    const auto found = pods_.find(uid);
    if (found == pods_.end()) return;
    const std::vector<Holders::value_type*> held = std::move(found->second);
    pods_.erase(found);
    for (Holders::value_type* term : held) {
      if (--term->second.pods == 0) terms_.erase(terms_.find(term->first));
    }
  }

  Holders terms_;
  std::unordered_map<std::string, std::vector<Holders::value_type*>> pods_;  // by uid; with terms
  std::shared_ptr<Namespaces> namespaces_ = std::make_shared<Namespaces>();
  std::uint64_t namespaces_version_ = 0;
  std::uint64_t version_ = 0;
};

}  // namespace

PluginInstance make_inter_pod_affinity(k8s::yaml::ObjectReader&) {
  PluginInstance instance;
  instance.constraint = std::make_unique<InterPodAffinity>();
  return instance;
}

}  // namespace plugins
