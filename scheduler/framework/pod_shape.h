// A shape: everything of a pod that a node-local plugin may read.
//
// Ten thousand pods of a training fleet are ten shapes. Plugins prepare once per shape, and the
// engine caches their answers per shape, so whatever a plugin needs of a pod must be in here and
// must be part of the shape's equality. What constraints across nodes read (namespace, labels,
// claims) is the pod's class and stays out, as does the priority, which decides about turns.
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
  // spec.nodeName of a pod in a hypothetical question; empty for pending pods.
  std::string node_name;
  // The pod names more than kMostResourcesOfPod and so can run nowhere; `requests` is incomplete.
  bool too_many_resources = false;
  // For extended resources: the most that one container asks for, if that is less than in
  // `requests`. By ascending id.
  std::vector<ResourceAmount> by_container;
  gpu::Demand gpu;  // follows from the above
  gpu::Wishes wishes;
  std::int64_t gpu_memory = 0;  // bytes that the pod takes on its node; follows; 0: not stated

  [[nodiscard]] std::int64_t request(ResourceId id) const;
  // The most of an extended resource that one container asks for: a device plugin allocates for one
  // container at a time.
  [[nodiscard]] std::int64_t request_of_one_container(ResourceId id) const;

  friend bool operator==(const PodShape&, const PodShape&) = default;
};

[[nodiscard]] PodShape shape_of(const k8s::Pod& pod, ResourceNames& names);

// What PodShape::gpu_memory is.
[[nodiscard]] std::int64_t gpu_memory_of(const gpu::Wishes& wishes,
                                         const std::vector<ResourceAmount>& requests,
                                         const ResourceNames& names);

// The parts of the pod that shape_of() reads, as if it had no node.
[[nodiscard]] k8s::Pod template_of(const k8s::Pod& pod);
// Whether template_of() is equal for both, except for volumes and names: then their shapes are
// equal. Much cheaper than making the shapes.
[[nodiscard]] bool same_template(const k8s::Pod& a, const k8s::Pod& b);
// What a template_of() holds besides itself, in bytes, without what the allocator adds to each
// block.
[[nodiscard]] std::size_t heap_bytes(const k8s::Pod& sample);
// Equal if same_template() is true. Cheap; pods with different requests mostly have different
// digests.
[[nodiscard]] std::size_t template_digest(const k8s::Pod& pod);

// Text that is equal exactly when the shapes are: the key under which shapes are interned.
[[nodiscard]] std::string shape_key(const PodShape& shape);

// What the shape holds besides itself, in bytes, without what the allocator adds to each block.
[[nodiscard]] std::size_t heap_bytes(const PodShape& shape);

}  // namespace sched
