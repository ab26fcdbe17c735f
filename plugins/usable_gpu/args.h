// The arguments of UsableGpu (usable_gpu.cc).
#pragma once

#include "k8s-client/yaml/object_reader.h"
#include "plugins/usable_gpu/weights.h"

#include <cstdint>

namespace plugins {

struct UsableGpuArgs {
  UsableGpuWeights weights;
  std::int64_t quantum = 50;      // milli-GPU
  std::int64_t conserve_cpu = 8;  // milli-GPU that a core left on a node counts as lost

  friend bool operator==(const UsableGpuArgs&, const UsableGpuArgs&) = default;
};

[[nodiscard]] UsableGpuArgs read_usable_gpu_args(k8s::yaml::ObjectReader& args);

}  // namespace plugins
