// What the tests of the inventory share: nodes with A100, and what is read of a node.
#pragma once

#include "scheduler/framework/node_view.h"
#include "scheduler/gpu/inventory.h"
#include "tests/support/builders.h"

#include <string>

namespace tests {

inline constexpr const char* kA100 = "NVIDIA-A100-SXM4-40GB";

inline sched::gpu::Inventory inventory_of(const k8s::Node& object) {
  sched::ResourceNames names;
  return sched::facts_of(object, names).gpu;
}

// As GPU feature discovery labels a node of eight A100, whole and not shared.
inline NodeBuilder a100() {
  return node("a")
      .gpus(8)
      .product(kA100)
      .labelled("nvidia.com/gpu.count", "8")
      .labelled("nvidia.com/gpu.memory", "40960")
      .labelled("nvidia.com/gpu.replicas", "1")
      .labelled("nvidia.com/gpu.sharing-strategy", "none")
      .labelled("nvidia.com/gpu.compute.major", "8")
      .labelled("nvidia.com/gpu.compute.minor", "0")
      .labelled("nvidia.com/mig.capable", "true")
      .labelled("nvidia.com/mig.strategy", "single");
}

// The same, every GPU in `replicas` parts.
inline NodeBuilder sliced(const char* replicas) {
  return a100()
      .product(std::string(kA100) + "-SHARED")
      .gpus(32)
      .labelled("nvidia.com/gpu.replicas", replicas)
      .labelled("nvidia.com/gpu.sharing-strategy", "time-slicing");
}

}  // namespace tests
