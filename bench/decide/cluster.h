// The cluster of `bench decide`: several GPU products, some nodes without GPU, any number of nodes.
//
// Nodes look as from an API server: allocatable with everything that kubelet reports, the labels of
// the cloud and of GPU feature discovery, a taint if that is usual. Any twenty nodes in a row have
// as many of each group as any other twenty, so clusters of every size are alike.
#pragma once

#include "k8s-client/api/node.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace bench::decide {

// Nodes that are alike.
struct NodeGroup {
  std::string_view product;  // nvidia.com/gpu.product; empty: no GPUs
  std::string_view family;   // nvidia.com/gpu.family
  std::int64_t gpu_mib = 0;  // nvidia.com/gpu.memory
  std::int64_t gpus = 0;
  std::int64_t cores = 0;
  std::int64_t gib = 0;   // of memory
  bool tainted = false;   // nvidia.com/gpu=present:NoSchedule
  std::size_t share = 0;  // of twenty nodes
};

enum Group : std::size_t { kH100, kA100, kL4, kT4, kNoGpu };

inline constexpr std::array<NodeGroup, 5> kGroups{{
    {"NVIDIA-H100-80GB-HBM3", "hopper", 81'559, 8, 192, 2'048, true, 8},
    {"NVIDIA-A100-SXM4-80GB", "ampere", 81'920, 8, 128, 1'024, false, 5},
    {"NVIDIA-L4", "ada-lovelace", 23'034, 4, 48, 192, true, 3},
    {"Tesla-T4", "turing", 15'360, 4, 64, 256, false, 2},
    {"", "", 0, 0, 64, 256, false, 2},
}};

[[nodiscard]] Group group_of(std::size_t index);

[[nodiscard]] k8s::Node node(std::size_t index);

// The index of a node with that name, which node() made.
[[nodiscard]] std::size_t index_of(std::string_view name);

}  // namespace bench::decide
