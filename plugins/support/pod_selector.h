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

// For texts that are only compared, and may be long: a short one as it is, of a long one its
// SHA-256, so that no pod has two texts taken for one.
[[nodiscard]] std::string digest_if_long(std::string text);

// Equal for terms that select the same pods by the same words: replicas of one Deployment share
// one. Ordered, so that it can be the key of a map.
class PodSelector {
 public:
  // `own_namespace` is that of the pod that has the term: meant when the term names none.
  // matchLabelKeys and mismatchLabelKeys are not read: the API server has put what they say into
  // the selector when the pod was created.
  PodSelector(const k8s::PodAffinityTerm& term, const std::string& own_namespace);

  [[nodiscard]] bool selects(const k8s::Pod& pod, const k8s::StringMap& namespace_labels) const {
    return in_scope(pod.metadata.namespace_, namespace_labels) && selects(pod.metadata.labels);
  }
  // The same by a term of the pod that is to be placed: there kube-scheduler takes every namespace
  // by a selector that takes one without labels (NotIn, DoesNotExist).
  // Source: kube-scheduler 1.36 interpodaffinity, mergeAffinityTermNamespacesIfNotEmpty: it lists
  // the namespaces, and drops the selector in a copy alone.
  [[nodiscard]] bool selects_for_its_pod(const std::string& namespace_,
                                         const k8s::StringMap& labels,
                                         const k8s::StringMap& namespace_labels) const {
    return (in_scope(namespace_, namespace_labels) || in_scope(namespace_, {})) && selects(labels);
  }
  // Those that the term names, sorted.
  [[nodiscard]] const std::vector<std::string>& namespaces() const { return namespaces_; }
  // Whether the labels of namespaces matter.
  [[nodiscard]] bool reads_namespaces() const { return of_namespace_.has_value(); }
  // All of it as text.
  [[nodiscard]] const std::string& key() const { return key_; }

  friend bool operator==(const PodSelector& a, const PodSelector& b) { return a.key_ == b.key_; }
  friend auto operator<=>(const PodSelector& a, const PodSelector& b) { return a.key_ <=> b.key_; }

 private:
  [[nodiscard]] bool in_scope(const std::string& namespace_,
                              const k8s::StringMap& namespace_labels) const;
  [[nodiscard]] bool selects(const k8s::StringMap& labels) const {
    return pods_ && pods_->matches(labels);
  }

  std::optional<k8s::LabelSelector> pods_;          // absent: no pod
  std::vector<std::string> namespaces_;             // sorted
  std::optional<k8s::LabelSelector> of_namespace_;  // absent: no further namespace
  std::string key_;
};

}  // namespace plugins
