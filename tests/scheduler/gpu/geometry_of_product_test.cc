#include "scheduler/gpu/product.h"
#include "tests/support/catch.h"

#include <string>
#include <vector>

TEST_CASE("The geometry of a product label is that of the model it names") {
  struct Case {
    const char* product;
    const char* want;  // empty: none
  };
  const std::vector<Case> cases = {
      {"NVIDIA-A100-SXM4-80GB", "A100-80GB"},
      {"NVIDIA-A100-SXM4-40GB", "A100-40GB"},
      {"NVIDIA-A100-80GB-PCIe", "A100-80GB"},
      {"A100-SXM4-40GB", "A100-40GB"},
      {"NVIDIA A100-PCIE-40GB", "A100-40GB"},
      {"NVIDIA-A800-SXM4-80GB", "A100-80GB"},
      {"NVIDIA-A100X", "A100-80GB"},
      {"NVIDIA-A100-SXM4-80GB-SHARED", "A100-80GB"},
      {"NVIDIA-A100-SXM4-40GB-MIG-1g.5gb", "A100-40GB"},
      {"NVIDIA-A100-SXM4-40GB-MIG-INVALID", "A100-40GB"},
      {"NVIDIA-H100-80GB-HBM3", "H100-80GB"},
      {"NVIDIA-H100-PCIe", "H100-80GB"},
      {"NVIDIA-H100-NVL", "H100-94GB"},
      {"NVIDIA-H100-64GB-HBM2", "H100-64GB"},
      {"NVIDIA-H20", "H100-96GB"},
      {"NVIDIA-H20-3e", "H200-141GB"},
      {"NVIDIA-H200", "H200-141GB"},
      {"NVIDIA-H200-NVL", "H200-141GB"},
      {"NVIDIA-GH200-480GB", "H100-96GB"},
      {"NVIDIA-GH200-120GB", "H100-96GB"},
      {"NVIDIA-GH200-144G-HBM3e", "GH200-144GB"},
      {"NVIDIA-H800-NVL", "H100-94GB"},
      {"NVIDIA-H800", "H100-80GB"},
      {"NVIDIA-H800-MIG-1g.10gb", "H100-80GB"},
      {"NVIDIA-B200", "B200-180GB"},
      {"NVIDIA-GB200", "GB200-186GB"},
      {"NVIDIA-B300-SXM6-AC", "B300-269GB"},
      {"NVIDIA-GB300", "GB300-278GB"},
      {"NVIDIA-A30", "A30-24GB"},
      {"NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition", "RTX-PRO-6000-96GB"},
      {"NVIDIA-RTX-PRO-6000-Blackwell-Max-Q-Workstation-Edition", "RTX-PRO-6000-96GB"},
      {"NVIDIA-RTX-PRO-5000-Blackwell", "RTX-PRO-5000-48GB"},
      {"NVIDIA-RTX-PRO-4500-Blackwell-Server-Edition", "RTX-PRO-4500-32GB"},
      // The words leave the model open, or name another.
      {"", ""},
      {"NVIDIA", ""},
      {"NVIDIA-A100", ""},
      {"NVIDIA-A100-SXM-64GB", ""},
      {"NVIDIA-A10", ""},
      {"NVIDIA-A100-3-20C", ""},
      {"NVIDIA-L4", ""},
      {"Tesla-V100-SXM2-16GB", ""},
      {"NVIDIA-RTX-6000-Ada-Generation", ""},
      {"NVIDIA-RTX-PRO-6000D-Blackwell", ""},
      {"NVIDIA-RTX-PRO-5000-72GB-Blackwell", ""},
  };
  for (const Case& each : cases) {
    INFO(each.product);
    const sched::gpu::mig::Geometry* found = sched::gpu::geometry_of(each.product);
    CHECK((found == nullptr ? std::string() : found->model) == each.want);
  }
}
