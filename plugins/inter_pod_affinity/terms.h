// The affinity terms of pods, and those of running pods.
#pragma once

#include "plugins/support/pod_selector.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
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

// Terms that many share.
using TermRef = std::shared_ptr<const Term>;
struct TermOrder {
  using is_transparent = void;
  bool operator()(const TermRef& a, const TermRef& b) const { return *a < *b; }
  bool operator()(const TermRef& a, const Term& b) const { return *a < b; }
  bool operator()(const Term& a, const TermRef& b) const { return a < *b; }
};
using TermRefs = std::vector<TermRef>;  // in that order
[[nodiscard]] bool contains(const TermRefs& terms, const Term& term);

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

// The labels that nodes carry.
class NodeLabels {
 public:
  [[nodiscard]] bool has(const std::string& key) const { return nodes_with_.contains(key); }
  // True: a label is new, or no node has it any more.
  bool set(const k8s::ObjectMeta& node);
  bool erase(const std::string& node);

 private:
  using Counts = std::map<std::string, std::size_t>;
  // True: of none of them are there nodes any more.
  bool leave(const std::vector<Counts::iterator>& keys);

  Counts nodes_with_;                                                       // by key
  std::unordered_map<std::string, std::vector<Counts::iterator>> of_node_;  // by its name
};

// The terms of running pods, of one kind or several, each once.
class RunningTerms {
 public:
  // Sets the terms of the pod of that uid. Each that was not there before gets the next number.
  void put(const std::string& uid, Terms terms, std::uint64_t& numbers);
  void remove(const std::string& uid);

  [[nodiscard]] bool none() const { return terms_.empty(); }

  // The terms of one topology key that select a pod.
  struct Selecting {
    TermRefs terms;
    std::string id;  // equal for equal terms of these RunningTerms alone, and short
  };
  // By topology key. Keys that no node has are left out: they change no answer, and a user who
  // may create pods may name many. O(terms that name the pod's namespace, or namespaces by label).
  // `added`: terms of pods that a trial adds.
  [[nodiscard]] std::map<std::string, Selecting> selecting(const k8s::Pod& pod,
                                                           const k8s::StringMap& namespace_labels,
                                                           const NodeLabels& on_nodes,
                                                           const Terms& added) const;
  // Whether one with a number above `since` does. O(such terms).
  [[nodiscard]] bool newer_selects(const k8s::Pod& pod, const k8s::StringMap& namespace_labels,
                                   const NodeLabels& on_nodes, std::uint64_t since) const;

 private:
  // How many pods have a term. A map's entries do not move, so pods store their terms as pointers.
  struct Held {
    std::uint64_t number = 0;  // never reused
    std::size_t pods = 0;
  };
  using Holders = std::map<TermRef, Held, TermOrder>;
  using Entry = Holders::value_type;
  struct InOrder {
    bool operator()(const Entry* a, const Entry* b) const { return *a->first < *b->first; }
  };
  using Entries = std::set<const Entry*, InOrder>;

  void list(const Entry& entry, bool is_there);

  Holders terms_;
  std::map<std::uint64_t, const Entry*> by_number_;
  std::unordered_map<std::string, std::vector<Entry*>> pods_;  // by uid; with terms
  // For the search: by a namespace that a term names, and the terms that select namespaces by
  // labels. A tree: users choose the names, and could make hashes collide.
  std::map<std::string, Entries> naming_;
  Entries by_labels_;
};

}  // namespace plugins
