// Which pods an affinity term selects: by namespace (its name or its labels) and by the pod's
// labels.
#pragma once

#include "k8s-client/api/pod.h"
#include "scheduler/framework/pod_class.h"

#include <compare>
#include <optional>
#include <string>
#include <vector>

namespace plugins {

// Appends text that is equal exactly for equal values, and that marks its own end: several may
// follow each other.
void append_key(std::string& key, const std::string& value);
void append_key(std::string& key, const k8s::StringMap& entries);
void append_key(std::string& key, const std::vector<k8s::SelectorRequirement>& requirements);
void append_key(std::string& key, const std::optional<k8s::LabelSelector>& selector);

// For texts that are only compared and may be long: returns a short one as it is, of a long one its
// SHA-256, so that no pod can make two texts equal.
[[nodiscard]] std::string digest_if_long(std::string text);

// Equal for terms that select pods by the same text: replicas of one Deployment share one. Ordered,
// so that it can be the key of a map.
class PodSelector {
 public:
  // `own_namespace`: of the pod that has the term; it is used if the term names no namespace.
  // matchLabelKeys and mismatchLabelKeys are not read: the API server has put them into the
  // selector when the pod was created, and k8s::set_defaults() into that of a manifest.
  PodSelector(const k8s::PodAffinityTerm& term, const std::string& own_namespace);

  [[nodiscard]] bool selects(const k8s::Pod& pod, const k8s::StringMap& namespace_labels) const {
    return in_scope(pod.metadata.namespace_, namespace_labels) && selects(pod.metadata.labels);
  }
  // The same for a term of the pod that is to be placed. There a selector that matches a namespace
  // without labels (NotIn, DoesNotExist) makes kube-scheduler take every namespace. Source:
  // kube-scheduler 1.36 interpodaffinity, mergeAffinityTermNamespacesIfNotEmpty: it lists the
  // namespaces, and drops the selector only in a copy.
  [[nodiscard]] bool selects_for_its_pod(const std::string& namespace_,
                                         const k8s::StringMap& labels,
                                         const k8s::StringMap& namespace_labels) const {
    return (in_scope(namespace_, namespace_labels) || in_scope(namespace_, {})) && selects(labels);
  }
  // The namespaces that the term names, sorted.
  [[nodiscard]] const std::vector<std::string>& namespaces() const { return namespaces_; }
  // Whether the labels of namespaces matter.
  [[nodiscard]] bool reads_namespaces() const { return of_namespace_.has_value(); }
  // The whole selector as text.
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
