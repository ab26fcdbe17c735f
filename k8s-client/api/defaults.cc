#include "k8s-client/api/defaults.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace k8s {
namespace {

void default_requests(std::vector<Container>& containers) {
  for (Container& container : containers) {
    for (const auto& [name, quantity] : container.limits) {
      const bool requested =
          std::any_of(container.requests.begin(), container.requests.end(),
                      [&, wanted = name](const auto& request) { return request.first == wanted; });
      if (!requested) container.requests.emplace_back(name, quantity);
    }
  }
}

// Requires the pod's own value of each label, or another one.
void add_requirements(const std::vector<std::string>& keys, SelectorOperator op,
                      const StringMap& labels, LabelSelector& selector) {
  for (const std::string& key : keys) {
    const std::string* value = labels.find(key);
    if (value == nullptr) continue;
    selector.match_expressions.push_back({.key = key, .op = op, .values = {*value}});
  }
}

void merge_label_keys(PodAffinityTerm& term, const StringMap& labels) {
  if (!term.label_selector) return;
  add_requirements(term.match_label_keys, SelectorOperator::kIn, labels, *term.label_selector);
  add_requirements(term.mismatch_label_keys, SelectorOperator::kNotIn, labels,
                   *term.label_selector);
}

void merge_label_keys(std::optional<PodAffinity>& affinity, const StringMap& labels) {
  if (!affinity) return;
  for (PodAffinityTerm& term : affinity->required) merge_label_keys(term, labels);
  for (WeightedPodAffinityTerm& each : affinity->preferred) merge_label_keys(each.term, labels);
}

}  // namespace

void set_defaults(Pod& pod, std::string_view namespace_) {
  if (pod.metadata.namespace_.empty()) pod.metadata.namespace_ = namespace_;
  if (pod.spec.scheduler_name.empty()) pod.spec.scheduler_name = "default-scheduler";
  default_requests(pod.spec.init_containers);
  default_requests(pod.spec.containers);
  // It is done when a pod is created, with the labels that it has then.
  if (pod.metadata.creation_timestamp) return;
  merge_label_keys(pod.spec.pod_affinity, pod.metadata.labels);
  merge_label_keys(pod.spec.pod_anti_affinity, pod.metadata.labels);
}

}  // namespace k8s
