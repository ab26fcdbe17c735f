// The labels that say what GPUs a node has: NVIDIA's (GPU feature discovery and the GPU operator)
// and the clouds', which say the same in other words where NVIDIA's own are missing.
//
// Sources: NVIDIA k8s-device-plugin, docs/gpu-feature-discovery; the documentation of GKE node
// labels, of Karpenter and EKS Auto Mode, of AKS node auto-provisioning, and of CoreWeave.
#pragma once

#include "k8s-client/api/meta.h"

#include <cstdint>
#include <string_view>

namespace sched::gpu {

inline constexpr std::string_view kProductLabel = "nvidia.com/gpu.product";
inline constexpr std::string_view kMemoryLabel = "nvidia.com/gpu.memory";  // MiB

// The label that names a node's GPU model, NVIDIA's before the clouds'; nullptr: none does.
[[nodiscard]] const k8s::StringMap::Entry* product_label_of(const k8s::StringMap& labels);

}  // namespace sched::gpu
