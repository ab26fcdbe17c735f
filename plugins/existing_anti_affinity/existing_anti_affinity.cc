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

class ExistingAntiAffinity final : public ClusterConstraint {
 public:
  std::string_view name() const override { return "ExistingAntiAffinity"; }

  std::optional<std::string> refuses(const k8s::Pod& pod) const override {
    const auto labels = namespaces_.find(pod.metadata.namespace_);
    const k8s::StringMap& of_namespace = labels == namespaces_.end() ? kNoLabels : labels->second;
    for (const auto& [selector, holders] : holders_) {
      if (!selector.selects(pod, of_namespace)) continue;
      return "pod \"" + *holders.begin() +
             "\" keeps it away by required anti-affinity, which gpu-scheduler cannot weigh yet";
    }
    return std::nullopt;
  }

  // One more bound pod, or other labels of one, can only object as well: the terms of a pod do not
  // change. Woken by those, all refused pods would be asked about at every bind; woken by every pod
  // that ends, they would be asked about, and told of another holder of the same term, at each.
  ChangeMask wakes_on() const override { return kBoundPodRemoved | kNamespaceChanged; }

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
    }
    return false;
  }

 private:
  // The pods, as namespace/name, that have the term. A node of a map stays where it is, so a pod
  // remembers its terms by pointer.
  using Holders = std::map<PodSelector, std::set<std::string>>;
  struct Held {
    std::string pod;
    std::vector<Holders::value_type*> terms;
  };

  static const k8s::StringMap kNoLabels;

  void put(const k8s::Pod& pod) {
    remove(pod.metadata.uid);
    const auto& affinity = pod.spec.pod_anti_affinity;
    if (!affinity || affinity->required.empty()) return;
    Held held{.pod = pod.metadata.namespace_ + "/" + pod.metadata.name, .terms = {}};
    for (const k8s::PodAffinityTerm& term : affinity->required) {
      auto& entry = *holders_.try_emplace(PodSelector(term, pod.metadata.namespace_)).first;
      entry.second.insert(held.pod);
      held.terms.push_back(&entry);
    }
    pods_.emplace(pod.metadata.uid, std::move(held));
  }

  // True: it was the last to have one of its terms.
  bool remove(const std::string& uid) {
    const auto found = pods_.find(uid);
    if (found == pods_.end()) return false;
    // A pod may name the same term twice: erase what is left empty only after all are let go.
    std::set<const PodSelector*> emptied;
    for (Holders::value_type* entry : found->second.terms) {
      entry->second.erase(found->second.pod);
      if (entry->second.empty()) emptied.insert(&entry->first);
    }
    for (const PodSelector* selector : emptied) holders_.erase(holders_.find(*selector));
    pods_.erase(found);
    return !emptied.empty();
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
