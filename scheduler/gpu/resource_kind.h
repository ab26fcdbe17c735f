// Which resource names stand for GPUs: one answer for all code that counts them, for quotas,
// packing or warnings.
//
//   nvidia.com/gpu                     the name of NVIDIA's device plugin
//   nvidia.com/gpu.shared              replicas of a shared GPU
//   nvidia.com/mig-1g.10gb[.shared]    MIG instances, and replicas of one
//   nvidia.com/gpu-a100,               other names: from the device plugin's setting
//   nvidia.com/GA102GL_A10,            `resources`, and from KubeVirt's plugin for passed-through
//   nvidia.com/GRID_T4-1Q              and virtual GPUs
//
// A name of the last kind begins with nvidia.com/ and has GPU, PGPU, VGPU, GRID, or a known model
// (models.h) as a separate word. Other names do not count as GPUs: the same domain has network
// devices (nvidia.com/hostdev, nvidia.com/rdma_gpu_shared), and amounts of memory and cores
// (nvidia.com/gpumem).
//
// Other vendors' devices are not counted, but it matters that a node has some: pods without GPU are
// better placed elsewhere.
//
// Sources: k8s-device-plugin, api/config/v1/resources.go; kubevirt-gpu-device-plugin, README;
// network-operator, example of hostDeviceNetwork; HAMi, docs/config.md.
#pragma once

#include <cstdint>
#include <string_view>

namespace sched::gpu {

enum class ResourceKind : std::uint8_t { kNoGpu, kGpu, kShared, kInstance, kOwnName };

// O(length of the name).
[[nodiscard]] ResourceKind kind_of_resource(std::string_view name);

[[nodiscard]] inline bool is_gpu_resource(std::string_view name) {
  return kind_of_resource(name) != ResourceKind::kNoGpu;
}

// Whether it is a device that a node is bought for, of any vendor: all of the above, names with GPU
// as a separate word (amd.com/gpu, gpu.intel.com/xe, aliyun.com/gpu-mem), and accelerators with
// other names (amd.com/cpx_nps4, habana.ai/gaudi, google.com/tpu). O(length of the name).
[[nodiscard]] bool is_accelerator(std::string_view name);

}  // namespace sched::gpu
