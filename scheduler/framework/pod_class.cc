#include "scheduler/framework/pod_class.h"

#include <functional>

namespace sched {

namespace {

// Each part of a class beside where a pod has it, until `visit` answers with false. The structured
// binding must name all parts: one that is added does not compile before it is named here.
template <typename Class, typename Visit>
bool visit_parts(const k8s::Pod& pod, Class& of, Visit visit) {
  auto& [namespace_, labels, affinity, anti_affinity, spread] = of;
  return visit(pod.metadata.namespace_, namespace_) && visit(pod.metadata.labels, labels) &&
         visit(pod.spec.pod_affinity, affinity) &&
         visit(pod.spec.pod_anti_affinity, anti_affinity) &&
         visit(pod.spec.topology_spread_constraints, spread);
}

}  // namespace

PodClass class_of(const k8s::Pod& pod) {
  PodClass made;
  visit_parts(pod, made, [](const auto& from, auto& to) {
    to = from;
    return true;
  });
  return made;
}

bool is_of_class(const k8s::Pod& pod, const PodClass& known) {
  return visit_parts(pod, known, std::equal_to<>());
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
