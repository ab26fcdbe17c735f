#include "plugins/inter_pod_affinity/terms.h"

#include <algorithm>

namespace plugins {

Terms required_terms(const std::optional<k8s::PodAffinity>& affinity, const std::string& in) {
  Terms terms;
  if (!affinity) return terms;
  for (const k8s::PodAffinityTerm& term : affinity->required) {
    terms.push_back({PodSelector(term, in), term.topology_key});
  }
  return terms;
}

bool RunningTerms::put(const std::string& uid, Terms terms) {
  if (terms.empty()) {
    remove(uid);
    return false;
  }
  bool some_new = false;
  std::vector<Entry*> held;
  for (Term& term : terms) {
    const auto [known, is_new] = terms_.try_emplace(std::move(term));
    if (is_new) {
      known->second.number = ++numbers_;
      list(*known, true);
      some_new = true;
    }
    ++known->second.pods;
    held.push_back(&*known);
  }
  // Only now: a term that the pod keeps must not be erased and then added again with a new number.
  remove(uid);
  pods_.emplace(uid, std::move(held));
  return some_new;
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
    terms_.erase(terms_.find(term->first));
  }
}

void RunningTerms::list(const Entry& entry, bool is_there) {
  const PodSelector& selector = entry.first.selector;
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
    const k8s::Pod& pod, const k8s::StringMap& namespace_labels, const Terms& added) const {
  std::map<std::string, Selecting> by_key;
  const auto look_at = [&](const Entries& entries) {
    for (const Entry* entry : entries) {
      const auto& [term, held] = *entry;
      if (!term.selector.selects(pod, namespace_labels)) continue;
      Selecting& found = by_key[term.key];
      found.terms.push_back(term);
      found.numbers += "," + std::to_string(held.number);
    }
  };
  if (const auto named = naming_.find(pod.metadata.namespace_); named != naming_.end()) {
    look_at(named->second);
  }
  look_at(by_labels_);
  for (const Term& term : added) {
    if (terms_.contains(term) || !term.selector.selects(pod, namespace_labels)) continue;
    Selecting& found = by_key[term.key];
    found.terms.push_back(term);
    found.numbers += ",+";
    append_key(found.numbers, term.selector.key());
  }
  for (auto& [key, found] : by_key) std::sort(found.terms.begin(), found.terms.end());
  return by_key;
}

}  // namespace plugins
