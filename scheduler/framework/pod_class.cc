#include "scheduler/framework/pod_class.h"

#include <functional>

namespace sched {

PodClass class_of(const k8s::Pod& pod) {
  return {.namespace_ = pod.metadata.namespace_,
          .labels = pod.metadata.labels,
          .affinity = pod.spec.pod_affinity,
          .anti_affinity = pod.spec.pod_anti_affinity,
          .spread = pod.spec.topology_spread_constraints};
}

bool is_of_class(const k8s::Pod& pod, const PodClass& known) {
  return pod.metadata.namespace_ == known.namespace_ && pod.metadata.labels == known.labels &&
         pod.spec.pod_affinity == known.affinity &&
         pod.spec.pod_anti_affinity == known.anti_affinity &&
         pod.spec.topology_spread_constraints == known.spread;
}

// Pods with the same labels seldom differ in their terms.
std::size_t class_digest(const k8s::Pod& pod) {
  std::size_t digest = pod.metadata.labels.size();
  const auto mix = [&digest](const std::string& text) {
    digest = digest * 31 + std::hash<std::string>{}(text);
  };
  mix(pod.metadata.namespace_);
  for (const auto& [key, value] : pod.metadata.labels) {
    mix(key);
    mix(value);
  }
  return digest;
}

}  // namespace sched
