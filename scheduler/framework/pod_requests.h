// What a pod takes on a node, by Kubernetes' rules.
//
// Containers are summed, sidecars (restartable init containers) added, the init phase's peak taken
// into account, pod-level values and overhead applied. Quantities are summed exactly and rounded
// once, at the end. `pods` is left out: whoever counts pods adds one. Source:
// k8s.io/component-helpers resource/helpers.go, v0.36.
//
// Everything here is O(n log n) in the size of the pod: its author may be an attacker.
#pragma once

#include "k8s-client/api/pod.h"
#include "scheduler/base/resources.h"

#include <cstddef>
#include <cstdint>

namespace sched {

// A pending pod that names more resources than these is refused (NodeResourcesFit). Real pods name
// less than twenty; each name is a column in the engine's tables.
inline constexpr std::size_t kMostResourcesOfPod = 60;

struct PendingRequests {
  Resources amounts;      // none is negative
  bool too_many = false;  // more than kMostResourcesOfPod; then `amounts` has those alone that are
                          // known already, so that such a pod adds no names
};

// Of a pod that is looking for a node: its spec alone counts.
[[nodiscard]] PendingRequests requests_of_pending(const k8s::Pod& pod, ResourceNames& names);

// Of a pod that has a node: in an in-place resize the larger of spec and status. None is negative.
[[nodiscard]] Resources requests_of_bound(const k8s::Pod& pod, ResourceNames& names);

// Whether the pod, which has a node, takes there what it would ask for if it were pending, by each
// of the functions here: there are no pod-level requests, and its status says nothing else of its
// containers than the spec does. False where that is not seen at a glance.
[[nodiscard]] bool asks_as_pending(const k8s::Pod& bound);

// CPU and memory with kube-scheduler's defaults for containers that name none (100 mCPU, 200 MiB):
// what scores count with, so that pods without requests do not pile up on one node.
struct NonZeroRequests {
  std::int64_t cpu = 0;     // milli-CPU
  std::int64_t memory = 0;  // bytes
  friend bool operator==(const NonZeroRequests&, const NonZeroRequests&) = default;
};
[[nodiscard]] NonZeroRequests nonzero_requests_of(const k8s::Pod& pod, bool bound);

}  // namespace sched
