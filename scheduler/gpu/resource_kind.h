// Which resource names stand for GPUs: one answer for whoever counts them, be it for a quota, for
// packing or for a warning.
//
//   nvidia.com/gpu                     as NVIDIA's device plugin calls them
//   nvidia.com/gpu.shared              replicas of a shared one
//   nvidia.com/mig-1g.10gb[.shared]    MIG instances, and replicas of one
//   nvidia.com/gpu-a100,               names of somebody's own: by the device plugin's
//   nvidia.com/GA102GL_A10,            `resources`, by KubeVirt's plugin for passed-through and
//   nvidia.com/GRID_T4-1Q              virtual GPUs
//
// A name of the last kind is one under nvidia.com/ that says GPU, PGPU, VGPU or GRID, or a model
// that is known (models.h), as a word of its own. Others are not taken for GPUs: the same domain
// has network devices (nvidia.com/hostdev, nvidia.com/rdma_gpu_shared), and amounts of memory and
// cores (nvidia.com/gpumem).
//
// Other vendors' devices are counted by nobody here, but that a node has some matters: pods without
// GPU are better elsewhere.
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

// Whether it is what a node is bought for, whoever made it: all of the above, names that say GPU as
// a word of their own (amd.com/gpu, gpu.intel.com/xe, aliyun.com/gpu-mem), and accelerators that
// are called otherwise (amd.com/cpx_nps4, habana.ai/gaudi, google.com/tpu). O(length of the name).
[[nodiscard]] bool is_accelerator(std::string_view name);

}  // namespace sched::gpu
