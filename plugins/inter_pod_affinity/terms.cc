#include "plugins/inter_pod_affinity/terms.h"

#include <algorithm>
#include <utility>

namespace plugins {

Terms required_terms(const std::optional<k8s::PodAffinity>& affinity, const std::string& in) {
  Terms terms;
  if (!affinity) return terms;
  for (const k8s::PodAffinityTerm& term : affinity->required) {
    terms.push_back({PodSelector(term, in), term.topology_key});
  }
  return terms;
}

bool contains(const TermRefs& terms, const Term& term) {
  return std::binary_search(terms.begin(), terms.end(), term, TermOrder());
}

bool NodeLabels::set(const k8s::ObjectMeta& node) {
  bool some_new = false;
  std::vector<Counts::iterator> keys;
  for (const auto& [key, value] : node.labels) {
    const auto [known, is_new] = nodes_with_.try_emplace(key);
    some_new = some_new || is_new;
    ++known->second;
    keys.push_back(known);
  }
  // Only now: a label that the node keeps is still there.
  const bool some_gone = leave(std::exchange(of_node_[node.name], std::move(keys)));
  return some_new || some_gone;
}

bool NodeLabels::erase(const std::string& node) {
  const auto known = of_node_.find(node);
  if (known == of_node_.end()) return false;
  const bool some_gone = leave(known->second);
  of_node_.erase(known);
  return some_gone;
}

bool NodeLabels::leave(const std::vector<Counts::iterator>& keys) {
  bool some_gone = false;
  for (const Counts::iterator& key : keys) {
    if (--key->second > 0) continue;
    nodes_with_.erase(key);
    some_gone = true;
  }
  return some_gone;
}

void RunningTerms::put(const std::string& uid, Terms terms, std::uint64_t& numbers) {
  if (terms.empty()) return remove(uid);
  std::vector<Entry*> held;
  for (Term& term : terms) {
    auto known = terms_.find(term);
    if (known == terms_.end()) {
      known =
          terms_.emplace(std::make_shared<const Term>(std::move(term)), Held{++numbers, 0}).first;
      by_number_.emplace(numbers, &*known);
      list(*known, true);
    }
    ++known->second.pods;
    held.push_back(&*known);
  }
  // Only now: a term that the pod keeps must not be erased and then added again with a new number.
  remove(uid);
  pods_.emplace(uid, std::move(held));
}

void RunningTerms::remove(const std::string& uid) {
  // This is called for every pod that goes, and in most clusters no pod has terms.
  if (pods_.empty()) return;
  const auto found = pods_.find(uid);
  if (found == pods_.end()) return;
  const std::vector<Entry*> held = std::move(found->second);
  pods_.erase(found);
  for (Entry* term : held) {
    if (--term->second.pods > 0) continue;
    list(*term, false);
    by_number_.erase(term->second.number);
    terms_.erase(terms_.find(term->first));
  }
}

void RunningTerms::list(const Entry& entry, bool is_there) {
  const PodSelector& selector = entry.first->selector;
  const auto change = [&](Entries& entries) {
    if (is_there) {
      entries.insert(&entry);
    } else {
      entries.erase(&entry);
    }
  };
  if (selector.reads_namespaces()) return change(by_labels_);
  for (const std::string& name : selector.namespaces()) {
    Entries& entries = naming_[name];
    change(entries);
    if (entries.empty()) naming_.erase(name);
  }
}

std::map<std::string, RunningTerms::Selecting> RunningTerms::selecting(
    const k8s::Pod& pod, const k8s::StringMap& namespace_labels, const NodeLabels& on_nodes,
    const Terms& added) const {
  std::map<std::string, Selecting> by_key;
  const auto add = [&](const Entry* entry) {
    const auto& [term, held] = *entry;
    if (!on_nodes.has(term->key) || !term->selector.selects(pod, namespace_labels)) return;
    Selecting& found = by_key[term->key];
    found.terms.push_back(term);
    found.id += "," + std::to_string(held.number);
  };
  static const Entries kNone;
  const auto named = naming_.find(pod.metadata.namespace_);
  const Entries& naming = named == naming_.end() ? kNone : named->second;
  // No term is in both, and each is in order.
  auto by_name = naming.begin();
  for (const Entry* entry : by_labels_) {
    for (; by_name != naming.end() && InOrder()(*by_name, entry); ++by_name) add(*by_name);
    add(entry);
  }
  std::for_each(by_name, naming.end(), add);

  for (const Term& term : added) {
    if (terms_.contains(term) || !on_nodes.has(term.key)) continue;
    if (!term.selector.selects(pod, namespace_labels)) continue;
    Selecting& found = by_key[term.key];
    found.terms.push_back(std::make_shared<const Term>(term));
    found.id += ",+";
    append_key(found.id, term.selector.key());
  }
  for (auto& [key, found] : by_key) {
    if (!added.empty()) std::sort(found.terms.begin(), found.terms.end(), TermOrder());
    found.id = digest_if_long(std::move(found.id));
  }
  return by_key;
}

bool RunningTerms::newer_selects(const k8s::Pod& pod, const k8s::StringMap& namespace_labels,
                                 const NodeLabels& on_nodes, std::uint64_t since) const {
  return std::any_of(by_number_.upper_bound(since), by_number_.end(), [&](const auto& each) {
    const Term& term = *each.second->first;
    return on_nodes.has(term.key) && term.selector.selects(pod, namespace_labels);
  });
}

}  // namespace plugins
