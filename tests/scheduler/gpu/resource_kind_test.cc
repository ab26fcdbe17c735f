#include "scheduler/gpu/resource_kind.h"

#include "tests/support/catch.h"

#include <vector>

using sched::gpu::is_accelerator;
using sched::gpu::kind_of_resource;
using sched::gpu::ResourceKind;

TEST_CASE("which resource names stand for GPUs") {
  struct Case {
    const char* name;
    ResourceKind want;
  };
  const std::vector<Case> cases = {
      {"nvidia.com/gpu", ResourceKind::kGpu},
      {"nvidia.com/gpu.shared", ResourceKind::kShared},
      {"nvidia.com/mig-1g.10gb", ResourceKind::kInstance},
      {"nvidia.com/mig-1g.10gb.shared", ResourceKind::kInstance},
      {"nvidia.com/gpu-a100", ResourceKind::kOwnName},
      {"nvidia.com/gpu.large", ResourceKind::kOwnName},
      {"nvidia.com/a100", ResourceKind::kOwnName},
      {"nvidia.com/H100_PCIe", ResourceKind::kOwnName},
      {"nvidia.com/pgpu", ResourceKind::kOwnName},
      {"nvidia.com/GA102GL_A10", ResourceKind::kOwnName},
      {"nvidia.com/TU104GL_TESLA_T4", ResourceKind::kOwnName},
      {"nvidia.com/GRID_T4-1Q", ResourceKind::kOwnName},
      {"nvidia.com/NVIDIA_A10-24Q", ResourceKind::kOwnName},
      {"nvidia.com/NVIDIA_H100XM-80C", ResourceKind::kOwnName},
      {"nvidia.com/hostdev", ResourceKind::kNoGpu},
      {"nvidia.com/rdma_shared_device_a", ResourceKind::kNoGpu},
      {"nvidia.com/mlnxnics", ResourceKind::kNoGpu},
      {"nvidia.com/rdma_gpu_shared", ResourceKind::kNoGpu},
      {"nvidia.com/hostdev-l2", ResourceKind::kNoGpu},
      {"nvidia.com/gpumem", ResourceKind::kNoGpu},
      {"nvidia.com/gpumem-percentage", ResourceKind::kNoGpu},
      {"nvidia.com/gpucores", ResourceKind::kNoGpu},
      {"nvidia.com/gpu-memory", ResourceKind::kNoGpu},
      {"amd.com/gpu", ResourceKind::kNoGpu},
      {"gpu-scheduler.io/gpu-milli", ResourceKind::kNoGpu},
      {"cpu", ResourceKind::kNoGpu},
      {"nvidia.com/", ResourceKind::kNoGpu},
      {"", ResourceKind::kNoGpu},
  };
  for (const Case& each : cases) {
    INFO(each.name);
    CHECK(kind_of_resource(each.name) == each.want);
  }
}

TEST_CASE("which resource names say that a node is there for its accelerators") {
  for (const char* name :
       {"nvidia.com/gpu", "nvidia.com/gpu.shared", "nvidia.com/mig-1g.10gb", "nvidia.com/pgpu",
        "nvidia.com/GRID_T4-1Q", "amd.com/gpu", "amd.com/cpx_nps4", "gpu.intel.com/xe",
        "aliyun.com/gpu-mem", "volcano.sh/vgpu-number", "habana.ai/gaudi", "google.com/tpu",
        "aws.amazon.com/neuroncore", "huawei.com/Ascend910", "example.com/gpu"}) {
    INFO(name);
    CHECK(is_accelerator(name));
  }
  for (const char* name :
       {"nvidia.com/hostdev", "nvidia.com/rdma_shared_device_a", "rdma/hca",
        "vpc.amazonaws.com/efa", "smarter-devices/fuse", "intel.com/sriov_netdevice", "cpu",
        "memory", "hugepages-2Mi", "ephemeral-storage", "pods", "example.com/gpuless", ""}) {
    INFO(name);
    CHECK_FALSE(is_accelerator(name));
  }
}
