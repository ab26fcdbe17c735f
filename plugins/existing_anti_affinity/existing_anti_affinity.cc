#include "plugins/existing_anti_affinity/existing_anti_affinity.h"

#include "plugins/existing_anti_affinity/pod_selector.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace plugins {

namespace {

using namespace sched;

// Source: kube-scheduler plugins/interpodaffinity.
constexpr std::string_view kPlugin = "InterPodAffinity";
constexpr std::string_view kReason = "node(s) didn't satisfy existing pods anti-affinity rules";

class ExistingAntiAffinity final : public ClusterConstraint {
 public:
  std::string_view name() const override { return "ExistingAntiAffinity"; }

  std::vector<Exclusion> excludes(const k8s::Pod& pod) const override {
    if (holders_.empty()) return {};
    const auto labels = namespaces_.find(pod.metadata.namespace_);
    const k8s::StringMap& of_namespace = labels == namespaces_.end() ? kNoLabels : labels->second;
    // A pod that is asked about where it runs must not stand in its own way.
    const auto own = pods_.find(pod.metadata.uid);
    const auto is_only_its_own = [&](const Holders::value_type& entry, const std::string& node,
                                     std::size_t terms) {
      if (own == pods_.end() || own->second.node != node) return false;
      const auto& mine = own->second.terms;
      return static_cast<std::size_t>(std::count(mine.begin(), mine.end(), &entry)) == terms;
    };
    std::vector<Exclusion> found;
    for (const auto& entry : holders_) {
      const auto& [term, nodes] = entry;
      if (!term.selector.selects(pod, of_namespace)) continue;
      if (found.empty()) found.push_back({.plugin = kPlugin, .reason = kReason, .domains = {}});
      for (const auto& [node, terms] : nodes) {
        if (!is_only_its_own(entry, node, terms)) found.front().domains.push_back({term.key, node});
      }
    }
    return found;
  }

  // One more bound pod, or other labels of one, can only exclude as well: the terms of a pod do not
  // change. Woken by those, all refused pods would be asked about at every bind.
  ChangeMask wakes_on() const override {
    return kBoundPodRemoved | kNamespaceChanged | kNodeChanged;
  }

  bool apply(const ClusterChange& change) override {
    if (const auto* pod = std::get_if<BoundPodUpserted>(&change)) {
      put(pod->pod);
    } else if (const auto* gone = std::get_if<BoundPodGone>(&change)) {
      return remove(gone->uid);
    } else if (const auto* upserted = std::get_if<NamespaceUpserted>(&change)) {
      const k8s::ObjectMeta& meta = upserted->object.metadata;
      const auto [known, is_new] = namespaces_.try_emplace(meta.name);
      return std::exchange(known->second, meta.labels) != meta.labels || is_new;
    } else if (const auto* removed = std::get_if<NamespaceGone>(&change)) {
      return namespaces_.erase(removed->name) > 0;
    } else if (std::holds_alternative<NodeGone>(change)) {
      return !holders_.empty();  // its domains may be no more
    }
    return false;
  }

 private:
  struct Term {
    PodSelector selector;
    std::string key;  // topologyKey
    friend auto operator<=>(const Term&, const Term&) = default;
  };
  // How many terms of pods there are, by node. A node of a map stays where it is, so a pod
  // remembers its terms by pointer.
  using Holders = std::map<Term, std::map<std::string, std::size_t>>;
  struct Held {
    std::string node;
    std::vector<Holders::value_type*> terms;
  };

  static const k8s::StringMap kNoLabels;

  void put(const k8s::Pod& pod) {
    remove(pod.metadata.uid);
    const auto& affinity = pod.spec.pod_anti_affinity;
    if (!affinity || affinity->required.empty()) return;
    Held held{.node = pod.spec.node_name, .terms = {}};
    for (const k8s::PodAffinityTerm& term : affinity->required) {
      auto& entry =
          *holders_.try_emplace({PodSelector(term, pod.metadata.namespace_), term.topology_key})
               .first;
      ++entry.second[held.node];
      held.terms.push_back(&entry);
    }
    pods_.emplace(pod.metadata.uid, std::move(held));
  }

  // True: it was the last on its node to have one of its terms.
  bool remove(const std::string& uid) {
    const auto found = pods_.find(uid);
    if (found == pods_.end()) return false;
    const Held& held = found->second;
    bool lifts = false;
    // A pod may name the same term twice: erase what is left empty only after all are let go.
    std::set<const Term*> emptied;
    for (Holders::value_type* entry : held.terms) {
      const auto on_node = entry->second.find(held.node);
      if (--on_node->second > 0) continue;
      lifts = true;
      entry->second.erase(on_node);
      if (entry->second.empty()) emptied.insert(&entry->first);
    }
    for (const Term* term : emptied) holders_.erase(holders_.find(*term));
    pods_.erase(found);
    return lifts;
  }

  Holders holders_;
  std::unordered_map<std::string, Held> pods_;                  // by uid; only pods with terms
  std::unordered_map<std::string, k8s::StringMap> namespaces_;  // name → labels
};

const k8s::StringMap ExistingAntiAffinity::kNoLabels;

}  // namespace

PluginInstance make_existing_anti_affinity(k8s::yaml::ObjectReader&) {
  PluginInstance instance;
  instance.constraint = std::make_unique<ExistingAntiAffinity>();
  return instance;
}

}  // namespace plugins
