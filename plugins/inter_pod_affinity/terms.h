// The affinity terms of pods, and which of them running pods have.
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

// `in`: the namespace of the pod that has them.
[[nodiscard]] Terms required_terms(const std::optional<k8s::PodAffinity>& affinity,
                                   const std::string& in);

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

// The terms that running pods have, of one kind or some, each once.
class RunningTerms {
 public:
  // The terms of the pod of that uid are these now. True: there is one that was not there before.
  bool put(const std::string& uid, Terms terms);
  void remove(const std::string& uid);

  [[nodiscard]] bool none() const { return terms_.empty(); }

  // Those of one topology key that select a pod.
  struct Selecting {
    Terms terms;          // sorted
    std::string numbers;  // as text; a term's number is given to no other
  };
  // By topology key. O(terms that name the pod's namespace, or namespaces by label).
  [[nodiscard]] std::map<std::string, Selecting> selecting(
      const k8s::Pod& pod, const k8s::StringMap& namespace_labels) const;

 private:
  // The pods that have a term. A node of a map stays where it is, so a pod remembers its terms by
  // pointer.
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
  // Where to look for a pod's: by a namespace that is named, and those that go by labels.
  std::unordered_map<std::string, Entries> naming_;
  Entries by_labels_;
  std::uint64_t numbers_ = 0;
};

}  // namespace plugins
