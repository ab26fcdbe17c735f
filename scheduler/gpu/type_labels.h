// The labels of a node that say which GPUs it has, and nothing else about it: so a pod that selects
// nodes by one of them says which types it allows.
#pragma once

#include "k8s-client/api/meta.h"

#include <string_view>

namespace sched::gpu {

// The product under NVIDIA's name and the clouds' (product_label_of), and NVIDIA's family
// ("hopper").
[[nodiscard]] bool names_type(std::string_view label);

// Those of a node's labels.
[[nodiscard]] k8s::StringMap type_labels_of(const k8s::StringMap& labels);

}  // namespace sched::gpu
