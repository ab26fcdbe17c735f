#include "scheduler/gpu/labels.h"

#include <algorithm>
#include <array>

namespace sched::gpu {

namespace {

// The first that a node has counts.
constexpr std::array<std::string_view, 8> kProductLabels = {
    kProductLabel,
    "cloud.google.com/gke-accelerator",
    "karpenter.k8s.aws/instance-gpu-name",
    "eks.amazonaws.com/instance-gpu-name",
    "karpenter.azure.com/sku-gpu-name",
    "k8s.amazonaws.com/accelerator",
    "gpu.nvidia.com/model",
    "gpu.nvidia.com/class",
};

}  // namespace

const k8s::StringMap::Entry* product_label_of(const k8s::StringMap& labels) {
  for (const std::string_view key : kProductLabels) {
    const auto found = std::find_if(labels.begin(), labels.end(),
                                    [&](const auto& entry) { return entry.first == key; });
    if (found != labels.end() && !found->second.empty()) return &*found;
  }
  return nullptr;
}

}  // namespace sched::gpu
