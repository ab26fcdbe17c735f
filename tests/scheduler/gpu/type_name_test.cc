#include "scheduler/gpu/type_name.h"

#include "tests/support/catch.h"

#include <vector>

using namespace sched::gpu;

TEST_CASE("A type name means the products that people mean by it") {
  struct Case {
    const char* type;
    const char* product;
    bool want;
  };
  const std::vector<Case> cases = {
      {"H100", "NVIDIA-H100-80GB-HBM3", true},
      {"h100", "NVIDIA-H100-PCIe", true},
      {" H100 ", "nvidia-h100-80gb", true},
      {"H100", "NVIDIA-H200", false},
      {"H200", "NVIDIA-GH200-480GB", false},
      {"A10", "NVIDIA-A100-SXM4-80GB", false},
      {"A10", "NVIDIA-A10G", false},
      {"L40", "NVIDIA-L40S", false},
      // With memory and form.
      {"A100-80GB", "NVIDIA-A100-SXM4-80GB", true},
      {"A100-80GB", "NVIDIA-A100-80GB-PCIe", true},
      {"A100-80GB", "NVIDIA-A100-SXM4-40GB", false},
      {"A100-80GB", "NVIDIA-A100", false},
      {"A100-40GB", "nvidia-tesla-a100", true},
      {"nvidia-tesla-a100", "NVIDIA-A100-SXM4-80GB", false},
      {"nvidia-tesla-t4", "Tesla-T4", true},
      {"L4-80GB", "NVIDIA-L4", false},
      {"H100-PCIe", "NVIDIA-H100-PCIe", true},
      {"H100-PCIe", "NVIDIA-H100-80GB-HBM3", false},
      {"H100-SXM", "NVIDIA-H100-80GB-HBM3", true},
      {"H100-NVL", "NVIDIA-H100-NVL", true},
      {"H100-94GB", "NVIDIA-H100-NVL", true},
      {"GH200-480GB", "NVIDIA-GH200-480GB", true},
      {"GH200-96GB", "NVIDIA-GH200-120GB", true},
      {"H200-SXM", "NVIDIA-H200", true},
      {"H200-SXM5", "NVIDIA-H200-NVL", false},
      {"B200-SXM", "NVIDIA-B200", true},
      {"B200-192GB", "NVIDIA-B200", true},
      {"B200-180GB", "NVIDIA-B200", true},
      {"B300-288GB", "NVIDIA-B300-SXM6-AC", true},
      {"GB300-288GB", "NVIDIA-GB300", true},
      {"GB300-252GB", "NVIDIA-GB300", false},
      {"Thor", "NVIDIA-Thor", true},
      {"GB200-192GB", "NVIDIA-GB200", true},
      {"H800-NVL", "NVIDIA-H800-NVL", true},
      {"H800-94GB", "NVIDIA-H800", false},
      {"V100", "Tesla-V100S-PCIE-32GB", false},
      {"V100S", "Tesla-V100S-PCIE-32GB", true},
      {"V100-16GB", "nvidia-tesla-v100", true},
      {"nvidia-tesla-v100", "Tesla-V100-SXM2-32GB", false},
      {"Tesla-V100", "Tesla-V100-SXM2-32GB", true},
      {"RTX-PRO-4500", "NVIDIA-RTX-PRO-4500-Blackwell", true},
      {"A40", "NVIDIA-A40-8Q", true},
      {"A40-48GB", "NVIDIA-A40-8Q", false},
      {"A40-8Q", "NVIDIA-A40-8Q", true},
      {"A40-8Q", "NVIDIA-A40-24Q", false},
      {"H100", "NVIDIA-H100XM-80C", true},
      {"H100-SXM", "NVIDIA-H100XM-80C", true},
      {"NVIDIA-H100XM-80C", "NVIDIA-H100XM-80C", true},
      {"NVIDIA-H100XM-80C", "NVIDIA-H100XM-40C", false},
      {"H100-NVL", "NVIDIA-H100XM-80C", false},
      {"A100", "GRID-A100X-20C", true},
      {"A100X", "GRID-A100X-20C", false},
      // Whole products, and labels as they stand on a node.
      {"NVIDIA-H100-80GB-HBM3", "NVIDIA-H100-80GB-HBM3", true},
      {"NVIDIA H100 80GB HBM3", "NVIDIA-H100-80GB-HBM3", true},
      {"NVIDIA-H100-80GB-HBM3", "NVIDIA-H100-PCIe", false},
      {"NVIDIA-A100-SXM4-40GB-SHARED", "NVIDIA-A100-SXM4-40GB", true},
      {"RTX-PRO-6000", "NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition", true},
      {"NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition",
       "NVIDIA-RTX-PRO-6000-Blackwell-Max-Q-Workstation-Edition", false},
      // GPUs that are not known go by their name.
      {"G2", "G2", true},
      {"g2", "G2", true},
      {"G2", "G3", false},
      {"V100M16", "V100M16", true},
      {"V100", "V100M16", false},
      {"MI300X", "Instinct-MI300X", false},
      {"H10O", "NVIDIA-H100-80GB-HBM3", false},
      {"", "", false},
      {"", "NVIDIA-L4", false},
  };
  for (const Case& each : cases) {
    INFO(each.type << " for " << each.product);
    CHECK(matches(parse_type_name(each.type), parse_product(each.product).product) == each.want);
  }
}

TEST_CASE("A type name that is a label's value names the MIG profile in it") {
  CHECK(parse_type_name("NVIDIA-A100-SXM4-40GB-MIG-1g.5gb").mig_profile == "1g.5gb");
  CHECK(parse_type_name("A100").mig_profile.empty());
  CHECK(parse_type_name(" A100-80GB\n").text == "A100-80GB");
}
