// Which pods an affinity term selects: a namespace, by name or by its labels, and the pod's labels.
#pragma once

#include "k8s-client/api/pod.h"

#include <compare>
#include <optional>
#include <string>
#include <vector>

namespace plugins {

// Equal for terms that select the same pods by the same words: replicas of one Deployment share
// one. Ordered, so that it can be the key of a map.
class PodSelector {
 public:
  // `own_namespace` is that of the pod that has the term: meant when the term names none.
  // matchLabelKeys and mismatchLabelKeys are not read: the API server has put what they say into
  // the selector when the pod was created.
  PodSelector(const k8s::PodAffinityTerm& term, const std::string& own_namespace);

  [[nodiscard]] bool selects(const k8s::Pod& pod, const k8s::StringMap& namespace_labels) const;

  friend bool operator==(const PodSelector& a, const PodSelector& b) { return a.key_ == b.key_; }
  friend auto operator<=>(const PodSelector& a, const PodSelector& b) { return a.key_ <=> b.key_; }

 private:
  std::optional<k8s::LabelSelector> pods_;          // absent: no pod
  std::vector<std::string> namespaces_;             // sorted
  std::optional<k8s::LabelSelector> of_namespace_;  // absent: no further namespace
  std::string key_;                                 // all of the above as text
};

}  // namespace plugins
