// What the engine gets in place of an object that cannot be read. It blocks everything that the
// object may hold, and nothing else. It contains the parts of the object that could be read.
#pragma once

#include "k8s-client/api/gpu_quota.h"
#include "k8s-client/api/node.h"
#include "k8s-client/api/pod.h"

#include <optional>

namespace sched::live {

// For a pod with a node: it requests more than any node has of CPU, memory, storage and GPUs, and
// of every resource that its containers name. nullopt for a pod without a node: it holds nothing,
// and is not placed.
[[nodiscard]] std::optional<k8s::Pod> stand_in_for_pod(k8s::Pod partial);

// A node that offers nothing and is cordoned.
[[nodiscard]] std::optional<k8s::Node> stand_in_for_node(k8s::Node partial);

// A quota with an invalid spec: its namespaces, as far as they could be read, get nothing more.
[[nodiscard]] std::optional<k8s::GpuQuota> stand_in_for_quota(k8s::GpuQuota partial);

}  // namespace sched::live
