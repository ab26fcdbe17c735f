// The account's data of a pod: how much GPU it asks for, and the name of its kind.
#pragma once

#include "scheduler/framework/pod_shape.h"
#include "scheduler/gpu/demand.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace bench::replay {

struct KindOfPod {
  std::string namespace_;
  std::string name;
  std::string text;        // "2 GPU (G2|T4), 8 CPU, 32Gi": the same for pods that ask for the same
  sched::gpu::Demand gpu;  // as far as it counts as GPU
  std::int64_t gpu_milli = 0;  // thousandths of a GPU over all its devices
  std::int64_t cpu_milli = 0;
};

// `shape` is the pod's. Without `devices_apart` (GPUs are only counted) MIG instances are separate
// resources and not part of any nvidia.com/gpu: they count as no GPU.
[[nodiscard]] KindOfPod kind_of(const k8s::Pod& pod, const sched::PodShape& shape,
                                bool devices_apart);

// Thousandths of a GPU that a pod asks for. MIG instances count as their share of the memory slices
// of the first model with such a profile. Of more than 10,000 GPUs or instances, which no cluster
// has on one node, 10,000 count.
[[nodiscard]] std::int64_t gpu_milli_of(const sched::gpu::Demand& demand);

// Thousandths of a GPU that are taken of a device with so many memory slices.
[[nodiscard]] std::int64_t gpu_milli_of(std::int64_t milli, std::uint16_t slices,
                                        std::int64_t slices_of_device);

// How many memory slices a GPU of that model has; 8 if its MIG geometry is not known.
[[nodiscard]] std::int64_t slices_of(std::string_view product);

}  // namespace bench::replay
