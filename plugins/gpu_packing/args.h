// The arguments of GpuPacking (gpu_packing.cc).
#pragma once

#include "k8s-client/yaml/object_reader.h"
#include "scheduler/gpu/type_name.h"

#include <cstdint>
#include <vector>

namespace plugins {

struct GpuPackingArgs {
  bool pods_without_gpu_apart = true;
  bool pack_pieces = true;
  std::int64_t keep_whole_nodes = 0;  // milli-GPU
  std::int64_t conserve_cpu = 8;      // of UsableGpu, as the next
  bool model_prices = true;
  std::vector<sched::gpu::TypeName> cheap_types_first;

  friend bool operator==(const GpuPackingArgs&, const GpuPackingArgs&) = default;
};

[[nodiscard]] GpuPackingArgs read_gpu_packing_args(k8s::yaml::ObjectReader& args);

}  // namespace plugins
