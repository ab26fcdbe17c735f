// The affinity terms of pods, and those of running pods.
#pragma once

#include "plugins/support/pod_selector.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace plugins {

struct Term {
  PodSelector selector;
  std::string key;  // topologyKey
  friend auto operator<=>(const Term&, const Term&) = default;
};
using Terms = std::vector<Term>;

// `in`: the namespace of the pod that has the terms.
[[nodiscard]] Terms required_terms(const std::optional<k8s::PodAffinity>& affinity,
                                   const std::string& in);

// The labels of the existing namespaces, by name.
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

// The terms of running pods, of one kind or several, each once.
class RunningTerms {
 public:
  // Sets the terms of the pod of that uid. True: one of them was not there before.
  bool put(const std::string& uid, Terms terms);
  void remove(const std::string& uid);

  [[nodiscard]] bool none() const { return terms_.empty(); }

  // The terms of one topology key that select a pod.
  struct Selecting {
    Terms terms;          // sorted
    std::string numbers;  // as text; a term's number is never reused
  };
  // By topology key. O(terms that name the pod's namespace, or namespaces by label). `added`: terms
  // of pods that a trial adds.
  [[nodiscard]] std::map<std::string, Selecting> selecting(const k8s::Pod& pod,
                                                           const k8s::StringMap& namespace_labels,
                                                           const Terms& added = {}) const;

 private:
  // How many pods have a term. A map's entries do not move, so pods store their terms as pointers.
  struct Held {
    std::uint64_t number = 0;
    std::size_t pods = 0;
  };
  using Holders = std::map<Term, Held>;
  using Entry = Holders::value_type;
  struct InOrder {
    bool operator()(const Entry* a, const Entry* b) const { return a->first < b->first; }
  };
  using Entries = std::set<const Entry*, InOrder>;

  void list(const Entry& entry, bool is_there);

  Holders terms_;
  std::unordered_map<std::string, std::vector<Entry*>> pods_;  // by uid; with terms
  // For the search: by a namespace that a term names, and the terms that select namespaces by
  // labels.
  std::unordered_map<std::string, Entries> naming_;
  Entries by_labels_;
  std::uint64_t numbers_ = 0;
};

}  // namespace plugins
