// A shape: everything of a pod that a node-local plugin may read.
//
// Ten thousand pods of a training fleet are ten shapes. Plugins prepare once per shape, and the
// engine caches their answers per shape, so whatever a plugin needs of a pod must be in here and
// must be part of the shape's equality. What constraints across nodes read (namespace, labels,
// claims) is the pod's class and stays out.
#pragma once

#include "k8s-client/api/pod.h"
#include "scheduler/base/resources.h"
#include "scheduler/framework/host_ports.h"
#include "scheduler/framework/pod_requests.h"
#include "scheduler/gpu/demand.h"
#include "scheduler/gpu/wishes.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sched {

struct PodShape {
  // What the pod takes, only amounts above zero, by ascending id; `pods` (always one) left out.
  std::vector<ResourceAmount> requests;
  NonZeroRequests nonzero;
  k8s::StringMap node_selector;
  std::optional<k8s::NodeAffinity> node_affinity;
  std::vector<k8s::Toleration> tolerations;
  std::vector<HostPort> host_ports;
  // spec.nodeName of a pod that is asked about hypothetically; empty for pending pods.
  std::string node_name;
  std::int32_t priority = 0;
  // The pod names more than kMostResourcesOfPod, and so can run nowhere; `requests` has not all.
  bool too_many_resources = false;
  // Of extended resources: the most that one container asks, where that is less than `requests`
  // says. By ascending id.
  std::vector<ResourceAmount> by_container;
  gpu::Demand gpu;  // follows from the above
  gpu::Wishes wishes;
  std::int64_t gpu_memory = 0;  // bytes that it takes on its node; follows; 0: it does not say

  [[nodiscard]] std::int64_t request(ResourceId id) const;
  // The most of an extended resource that one container asks: device plugins see no more at once.
  [[nodiscard]] std::int64_t request_of_one_container(ResourceId id) const;

  friend bool operator==(const PodShape&, const PodShape&) = default;
};

[[nodiscard]] PodShape shape_of(const k8s::Pod& pod, ResourceNames& names);

// What PodShape::gpu_memory is.
[[nodiscard]] std::int64_t gpu_memory_of(const gpu::Wishes& wishes,
                                         const std::vector<ResourceAmount>& requests,
                                         const ResourceNames& names);

// The pod as far as shape_of() reads it, and as if it had no node.
[[nodiscard]] k8s::Pod template_of(const k8s::Pod& pod);
// Whether template_of() is the same for both, their volumes and names aside: then their shapes are
// the same. Much cheaper than to work these out.
[[nodiscard]] bool same_template(const k8s::Pod& a, const k8s::Pod& b);
// Equal where same_template() holds. Cheap; pods whose requests differ mostly have different ones.
[[nodiscard]] std::size_t template_digest(const k8s::Pod& pod);

// Text that is equal exactly when the shapes are: the key under which shapes are interned.
[[nodiscard]] std::string shape_key(const PodShape& shape);

}  // namespace sched
