// What one pod takes on a node: the only part of a bound pod's spec that is stored.
#pragma once

#include "k8s-client/api/pod.h"
#include "scheduler/base/resources.h"
#include "scheduler/framework/host_ports.h"
#include "scheduler/framework/node_view.h"
#include "scheduler/framework/pod_requests.h"
#include "scheduler/framework/pod_shape.h"

#include <optional>
#include <vector>

namespace sched {

struct Claim {
  std::vector<ResourceAmount>
      requests;  // above zero, by ascending id; `pods` (always one) left out
  NonZeroRequests nonzero;
  std::vector<HostPort> host_ports;  // sorted
  // If devices are kept one by one: the parts that the pod takes; else empty.
  std::vector<gpu::DeviceShare> devices;
  std::optional<gpu::SizeClass> gpu_size;  // of a pod with GPU
  std::int64_t gpu_memory = 0;             // bytes; 0: the pod does not state it (gpu::Wishes)

  friend bool operator==(const Claim&, const Claim&) = default;
};

// The claim of a pod that is about to be put on a node.
[[nodiscard]] Claim claim_of(const PodShape& shape);

// The claim of a pod that has a node, with regard to an in-place resize under way.
[[nodiscard]] Claim claim_of_bound(const k8s::Pod& pod, ResourceNames& names);

// Adds the claim to the usage, with the pod itself (`pods`). Sums saturate at the limits of int64.
void add_claim(NodeUsage& usage, const Claim& claim);

// Subtracts an added claim. False, and nothing is done, if a sum is at its limit and so does not
// show what was added: then the usage must be summed up again.
[[nodiscard]] bool subtract_claim(NodeUsage& usage, const Claim& claim);

}  // namespace sched
