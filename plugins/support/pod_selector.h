// Which pods an affinity term selects: a namespace, by name or by its labels, and the pod's labels.
#pragma once

#include "k8s-client/api/pod.h"
#include "scheduler/framework/pod_class.h"

#include <compare>
#include <optional>
#include <string>
#include <vector>

namespace plugins {

// Text that is the same exactly for equal values, and that ends where it ends: several may follow
// each other.
void append_key(std::string& key, const std::string& value);
void append_key(std::string& key, const k8s::StringMap& entries);
void append_key(std::string& key, const std::vector<k8s::SelectorRequirement>& requirements);
void append_key(std::string& key, const std::optional<k8s::LabelSelector>& selector);

// Equal for terms that select the same pods by the same words: replicas of one Deployment share
// one. Ordered, so that it can be the key of a map.
class PodSelector {
 public:
  // `own_namespace` is that of the pod that has the term: meant when the term names none.
  // matchLabelKeys and mismatchLabelKeys are not read: the API server has put what they say into
  // the selector when the pod was created.
  PodSelector(const k8s::PodAffinityTerm& term, const std::string& own_namespace);

  [[nodiscard]] bool selects(const sched::PodClass& pod,
                             const k8s::StringMap& namespace_labels) const {
    return selects(pod.namespace_, pod.labels, namespace_labels);
  }
  [[nodiscard]] bool selects(const k8s::Pod& pod, const k8s::StringMap& namespace_labels) const {
    return selects(pod.metadata.namespace_, pod.metadata.labels, namespace_labels);
  }
  // Whether the labels of namespaces matter.
  [[nodiscard]] bool reads_namespaces() const { return of_namespace_.has_value(); }
  // All of it as text.
  [[nodiscard]] const std::string& key() const { return key_; }

  friend bool operator==(const PodSelector& a, const PodSelector& b) { return a.key_ == b.key_; }
  friend auto operator<=>(const PodSelector& a, const PodSelector& b) { return a.key_ <=> b.key_; }

 private:
  [[nodiscard]] bool selects(const std::string& namespace_, const k8s::StringMap& labels,
                             const k8s::StringMap& namespace_labels) const;

  std::optional<k8s::LabelSelector> pods_;          // absent: no pod
  std::vector<std::string> namespaces_;             // sorted
  std::optional<k8s::LabelSelector> of_namespace_;  // absent: no further namespace
  std::string key_;
};

}  // namespace plugins
