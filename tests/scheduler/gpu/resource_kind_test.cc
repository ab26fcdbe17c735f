#include "scheduler/gpu/resource_kind.h"

#include "tests/support/catch.h"

#include <vector>

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
      {"nvidia.com/hostdev", ResourceKind::kNoGpu},
      {"nvidia.com/rdma_shared_device_a", ResourceKind::kNoGpu},
      {"nvidia.com/mlnxnics", ResourceKind::kNoGpu},
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
