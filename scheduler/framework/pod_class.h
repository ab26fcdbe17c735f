// What rules across nodes read of a pod besides its shape. A pod with a node is counted by its
// class. For a waiting pod the class has what the pod asks of other pods.
#pragma once

#include "k8s-client/api/pod.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace sched {

struct PodClass {
  std::string namespace_;
  k8s::StringMap labels;
  std::optional<k8s::PodAffinity> affinity;
  std::optional<k8s::PodAffinity> anti_affinity;
  std::vector<k8s::TopologySpreadConstraint> spread;

  friend bool operator==(const PodClass&, const PodClass&) = default;
};

[[nodiscard]] PodClass class_of(const k8s::Pod& pod);
// Whether class_of(pod) equals that class, without making it.
[[nodiscard]] bool is_of_class(const k8s::Pod& pod, const PodClass& known);
// Equal for pods of one class, and seldom for pods of different classes.
[[nodiscard]] std::size_t class_digest(const k8s::Pod& pod);

}  // namespace sched
