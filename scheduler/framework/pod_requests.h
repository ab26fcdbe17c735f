// What a pod takes on a node, by Kubernetes' rules.
//
// Containers are summed, sidecars (restartable init containers) added, the peak of the init phase
// taken into account, pod-level values and overhead applied. Quantities are summed exactly and
// rounded once, at the end. `pods` is left out: code that counts pods adds one. Source:
// k8s.io/component-helpers resource/helpers.go, v0.36.
//
// Everything here is O(n log n) in the size of the pod: its author may be an attacker.
#pragma once

#include "k8s-client/api/pod.h"
#include "scheduler/base/resources.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace sched {

// A pending pod that names more resources than these is refused (NodeResourcesFit). Real pods name
// fewer than twenty; each name is a column in the engine's tables.
inline constexpr std::size_t kMostResourcesOfPod = 60;

struct PendingRequests {
  Resources amounts;      // none is negative
  bool too_many = false;  // more than kMostResourcesOfPod; then `amounts` has only names that are
                          // known already, so that such a pod adds none
};

// Of a pod without a node: only its spec counts.
[[nodiscard]] PendingRequests requests_of_pending(const k8s::Pod& pod, ResourceNames& names);

// Of a pod that has a node: in an in-place resize the larger of spec and status. None is negative.
[[nodiscard]] Resources requests_of_bound(const k8s::Pod& pod, ResourceNames& names);

// Whether all functions here give the same for this pod, which has a node, as for a pending pod
// with its spec: it has no pod-level requests, and its container statuses name the same amounts as
// the spec. May be false although it is so, because it checks only simple cases.
[[nodiscard]] bool asks_as_pending(const k8s::Pod& bound);

// Gives a pod that did not come from an API server the pod-level requests that it would have there:
// for each of its pod-level limits, what its containers ask for together, or as much as the limit.
// The containers have their own defaults already (k8s-client/api/defaults.h). Left out is what
// changes no sum. Source: kubernetes pkg/apis/core/v1/defaults.go, v1.37.
void set_pod_level_requests(k8s::Pod& pod);

// CPU and memory, with kube-scheduler's defaults for containers that name none (100 mCPU, 200 MiB).
// Scores use these, so that pods without requests do not pile up on one node.
struct NonZeroRequests {
  std::int64_t cpu = 0;     // milli-CPU
  std::int64_t memory = 0;  // bytes
  friend bool operator==(const NonZeroRequests&, const NonZeroRequests&) = default;
};
[[nodiscard]] NonZeroRequests nonzero_requests_of(const k8s::Pod& pod, bool bound);

// Whether a container asks for GPUs; init containers and sidecars count. O(size of the pod).
[[nodiscard]] bool asks_for_gpus(const k8s::Pod& pod);

// What requests_of_bound() gives, by name.
[[nodiscard]] std::map<std::string, std::int64_t> requests_by_name(const k8s::Pod& pod);

}  // namespace sched
