#include "scheduler/gpu/product.h"

#include "scheduler/gpu/labels.h"
#include "tests/support/catch.h"

#include <optional>
#include <string>
#include <vector>

using namespace sched::gpu;

TEST_CASE("A product label says model, memory, form and what was done to the GPUs") {
  struct Case {
    const char* label;
    const char* name;
    const char* gpu_class;
    std::int64_t memory_gb;
    Form form;
    bool shared;
    const char* mig_profile;
  };
  const std::vector<Case> cases = {
      {"NVIDIA-H100-80GB-HBM3", "NVIDIA-H100-80GB-HBM3", "H100", 80, Form::kSxm, false, ""},
      {"NVIDIA-H100-PCIe", "NVIDIA-H100-PCIe", "H100", 80, Form::kPcie, false, ""},
      {"NVIDIA-H100-NVL", "NVIDIA-H100-NVL", "H100", 94, Form::kNvl, false, ""},
      {"NVIDIA-A100-SXM4-40GB-SHARED", "NVIDIA-A100-SXM4-40GB", "A100", 40, Form::kSxm, true, ""},
      {"NVIDIA-A100-SXM4-40GB-MIG-1g.5gb", "NVIDIA-A100-SXM4-40GB", "A100", 40, Form::kSxm, false,
       "1g.5gb"},
      {"NVIDIA-A100-SXM4-40GB-MIG-1g.5gb.me-SHARED", "NVIDIA-A100-SXM4-40GB", "A100", 40,
       Form::kSxm, true, "1g.5gb.me"},
      {"NVIDIA-A100-SXM4-40GB-MIG-INVALID", "NVIDIA-A100-SXM4-40GB", "A100", 40, Form::kSxm, false,
       "INVALID"},
      // Blanks are dashes; what a label may not hold is gone.
      {"NVIDIA A100-PCIE-40GB", "NVIDIA-A100-PCIE-40GB", "A100", 40, Form::kPcie, false, ""},
      {"NVIDIA L4 (R)", "NVIDIA-L4-R", "L4", 24, Form::kUnknown, false, ""},
      // Several generations of spellings, and one name inside another.
      {"Tesla-V100-SXM2-16GB", "Tesla-V100-SXM2-16GB", "V100", 16, Form::kSxm, false, ""},
      {"Tesla-T4", "Tesla-T4", "T4", 16, Form::kUnknown, false, ""},
      {"NVIDIA-A10", "NVIDIA-A10", "A10", 24, Form::kUnknown, false, ""},
      {"NVIDIA-A10G", "NVIDIA-A10G", "A10G", 24, Form::kUnknown, false, ""},
      {"NVIDIA-L40S", "NVIDIA-L40S", "L40S", 48, Form::kUnknown, false, ""},
      {"NVIDIA-GH200-480GB", "NVIDIA-GH200-480GB", "GH200", 96, Form::kUnknown, false, ""},
      {"NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition",
       "NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition", "RTX-PRO-6000", 96, Form::kUnknown, false,
       ""},
      {"NVIDIA-RTX-6000-Ada-Generation", "NVIDIA-RTX-6000-Ada-Generation", "RTX-6000-ADA", 48,
       Form::kUnknown, false, ""},
      {"NVIDIA-RTX-4000-SFF-Ada-Generation", "NVIDIA-RTX-4000-SFF-Ada-Generation", "RTX-4000-ADA",
       20, Form::kUnknown, false, ""},
      {"NVIDIA-RTX-5000-Ada-Generation", "NVIDIA-RTX-5000-Ada-Generation", "RTX-5000-ADA", 32,
       Form::kUnknown, false, ""},
      {"NVIDIA-RTX-A4500", "NVIDIA-RTX-A4500", "RTX-A4500", 20, Form::kUnknown, false, ""},
      {"Quadro-RTX-6000", "Quadro-RTX-6000", "QUADRO-RTX-6000", 24, Form::kUnknown, false, ""},
      // Clouds' names.
      {"nvidia-tesla-a100", "nvidia-tesla-a100", "A100", 40, Form::kUnknown, false, ""},
      {"nvidia-h100-mega-80gb", "nvidia-h100-mega-80gb", "H100", 80, Form::kUnknown, false, ""},
      {"H100_NVLINK_80GB", "H100_NVLINK_80GB", "H100", 80, Form::kSxm, false, ""},
      {"l4", "l4", "L4", 24, Form::kUnknown, false, ""},
      {"nvidia-tesla-v100", "nvidia-tesla-v100", "V100", 16, Form::kUnknown, false, ""},
      {"nvidia-tesla-p100", "nvidia-tesla-p100", "P100", 16, Form::kUnknown, false, ""},
      {"Tesla-V100-PG503-216", "Tesla-V100-PG503-216", "V100", 0, Form::kUnknown, false, ""},
      // Boards that are built in one way unless they say another.
      {"NVIDIA-H200", "NVIDIA-H200", "H200", 141, Form::kSxm, false, ""},
      {"NVIDIA-H200-NVL", "NVIDIA-H200-NVL", "H200", 141, Form::kNvl, false, ""},
      {"NVIDIA-B200", "NVIDIA-B200", "B200", 180, Form::kSxm, false, ""},
      {"NVIDIA-H800-NVL", "NVIDIA-H800-NVL", "H800", 94, Form::kNvl, false, ""},
      // The CPU's memory in a name, not the GPU's.
      {"NVIDIA-GH200-120GB", "NVIDIA-GH200-120GB", "GH200", 96, Form::kUnknown, false, ""},
      {"Tesla-V100S-PCIE-32GB", "Tesla-V100S-PCIE-32GB", "V100S", 32, Form::kPcie, false, ""},
      {"NVIDIA-GB10", "NVIDIA-GB10", "GB10", 128, Form::kUnknown, false, ""},
      {"NVIDIA-RTX-PRO-5000-Blackwell", "NVIDIA-RTX-PRO-5000-Blackwell", "RTX-PRO-5000", 48,
       Form::kUnknown, false, ""},
      {"NVIDIA-RTX-PRO-5000-72GB-Blackwell", "NVIDIA-RTX-PRO-5000-72GB-Blackwell", "RTX-PRO-5000",
       72, Form::kUnknown, false, ""},
      {"NVIDIA-RTX-PRO-4500-Blackwell", "NVIDIA-RTX-PRO-4500-Blackwell", "RTX-PRO-4500", 32,
       Form::kUnknown, false, ""},
      {"NVIDIA-RTX-PRO-4000-Blackwell-SFF-Edition", "NVIDIA-RTX-PRO-4000-Blackwell-SFF-Edition",
       "RTX-PRO-4000", 24, Form::kUnknown, false, ""},
      {"NVIDIA-RTX-PRO-2000-Blackwell", "NVIDIA-RTX-PRO-2000-Blackwell", "RTX-PRO-2000", 16,
       Form::kUnknown, false, ""},
      {"NVIDIA-RTX-2000-Ada-Generation", "NVIDIA-RTX-2000-Ada-Generation", "RTX-2000-ADA", 16,
       Form::kUnknown, false, ""},
      // Jetson's, with memory that the CPU uses, too: how much, the board decides.
      {"NVIDIA-Thor", "NVIDIA-Thor", "THOR", 0, Form::kUnknown, false, ""},
      {"Orin", "Orin", "ORIN", 0, Form::kUnknown, false, ""},
      // Parts of a GPU, as a virtual machine sees them.
      {"NVIDIA-A40-8Q", "NVIDIA-A40-8Q", "A40", 8, Form::kUnknown, false, ""},
      {"GRID-T4-16C", "GRID-T4-16C", "T4", 16, Form::kUnknown, false, ""},
      {"NVIDIA-A100-3-20C", "NVIDIA-A100-3-20C", "A100", 20, Form::kUnknown, false, ""},
      {"NVIDIA-A100-1-5CME", "NVIDIA-A100-1-5CME", "A100", 5, Form::kUnknown, false, ""},
      // Boards have other words there, and A100X is two of them.
      {"NVIDIA-H100XM-80C", "NVIDIA-H100XM-80C", "H100", 80, Form::kSxm, false, ""},
      {"NVIDIA-H100L-1-12C", "NVIDIA-H100L-1-12C", "H100", 12, Form::kNvl, false, ""},
      {"NVIDIA-H20X-141C", "NVIDIA-H20X-141C", "H20", 141, Form::kSxm, false, ""},
      {"GRID-A100DX-40C", "GRID-A100DX-40C", "A100", 40, Form::kSxm, false, ""},
      {"GRID-A100X-20C", "GRID-A100X-20C", "A100", 20, Form::kSxm, false, ""},
      {"NVIDIA-A100X", "NVIDIA-A100X", "A100X", 80, Form::kUnknown, false, ""},
      {"GRID-V100D-8Q", "GRID-V100D-8Q", "V100", 8, Form::kPcie, false, ""},
      {"NVIDIA-RTXA6000-12Q", "NVIDIA-RTXA6000-12Q", "RTX-A6000", 12, Form::kUnknown, false, ""},
      {"NVIDIA-RTX-Pro-6000-Blackwell-DC-1-24CGFX", "NVIDIA-RTX-Pro-6000-Blackwell-DC-1-24CGFX",
       "RTX-PRO-6000", 24, Form::kUnknown, false, ""},
      {"NVIDIA-H100XM", "NVIDIA-H100XM", "", 0, Form::kUnknown, false, ""},
      // The memory is open, or the model is not known.
      {"NVIDIA-A100", "NVIDIA-A100", "A100", 0, Form::kUnknown, false, ""},
      {"G2", "G2", "", 0, Form::kUnknown, false, ""},
      {"Instinct-MI300X", "Instinct-MI300X", "", 0, Form::kUnknown, false, ""},
      {"-SHARED", "", "", 0, Form::kUnknown, true, ""},
      {"", "", "", 0, Form::kUnknown, false, ""},
  };
  for (const Case& each : cases) {
    INFO(each.label);
    const ProductLabel parsed = parse_product(each.label);
    CHECK(parsed.product.name == each.name);
    CHECK(parsed.product.class_name() == each.gpu_class);
    CHECK(parsed.product.memory_gb == each.memory_gb);
    CHECK((parsed.product.form == each.form));
    CHECK(parsed.shared == each.shared);
    CHECK(parsed.mig_profile == each.mig_profile);
  }
}

TEST_CASE("Where a name leaves the variant open, the memory that the device reports decides") {
  struct Case {
    const char* label;
    std::int64_t memory_mib;
    std::int64_t memory_gb;
    const char* geometry;  // empty: none
  };
  const std::vector<Case> cases = {
      {"a100", 40'960, 40, "A100-40GB"},
      {"a100", 81'920, 80, "A100-80GB"},
      {"NVIDIA-A100", 81'920, 80, "A100-80GB"},
      {"h100", 81'559, 80, "H100-80GB"},
      {"H100", 95'830, 94, "H100-94GB"},
      {"H100", 97'871, 96, "H100-96GB"},
      {"NVIDIA-GB200", 189'471, 186, "GB200-186GB"},
      {"NVIDIA-GB200", 192'900, 186, "GB200-189GB"},
      {"NVIDIA-GB300", 256'703, 251, "GB300-251GB"},
      {"NVIDIA-GB300", 284'208, 278, "GB300-278GB"},
      {"NVIDIA-Thor", 125'771, 0, ""},
      {"NVIDIA-H20", 143'771, 141, "H200-141GB"},
      {"NVIDIA-RTX-PRO-5000-Blackwell", 73'000, 72, ""},
      // The words count for more than the number; a number that no variant has decides nothing.
      {"NVIDIA-A100-SXM4-40GB", 81'920, 40, "A100-40GB"},
      {"a100", 20'000, 0, ""},
      {"a100", -1, 0, ""},
      {"t4", 1, 16, ""},
  };
  for (const Case& each : cases) {
    INFO(each.label << " with " << each.memory_mib);
    const Product product = parse_product(each.label, each.memory_mib).product;
    CHECK(product.memory_gb == each.memory_gb);
    CHECK((product.geometry == nullptr ? "" : product.geometry->model) == each.geometry);
  }
}

TEST_CASE("NVIDIA's product label counts before the clouds'") {
  const k8s::StringMap both{{"cloud.google.com/gke-accelerator", "nvidia-l4"},
                            {"nvidia.com/gpu.product", "NVIDIA-L4"}};
  const k8s::StringMap cloud{{"karpenter.k8s.aws/instance-gpu-name", "l4"}, {"zone", "a"}};
  const k8s::StringMap empty{{"nvidia.com/gpu.product", ""}};
  const auto azure = [](const char* type) {
    return product_label_of({{"node.kubernetes.io/instance-type", type}}, {});
  };
  CHECK(azure("Standard_NC24ads_A100_v4") == "NVIDIA-A100-80GB-PCIe");
  CHECK(azure("Standard_ND96asr_v4") == "NVIDIA-A100-SXM4-40GB");
  CHECK(azure("Standard_ND96isr_H100_v5") == "NVIDIA-H100-80GB-HBM3");
  // The same boards, whatever the letters say of disks and networks.
  CHECK(azure("Standard_ND96is_H100_v5") == "NVIDIA-H100-80GB-HBM3");
  CHECK(azure("Standard_ND96isrf_H100_v5") == "NVIDIA-H100-80GB-HBM3");
  CHECK(azure("Standard_ND96is_flex_H100_v5") == "NVIDIA-H100-80GB-HBM3");
  CHECK(azure("Standard_ND96isrf_H200_v5") == "NVIDIA-H200");
  CHECK(azure("Standard_ND96ams_A100_v4") == "NVIDIA-A100-SXM4-80GB");
  CHECK(azure("Standard_ND128isr_NDR_GB200_v6") == "NVIDIA-GB200");
  CHECK(azure("Standard_NC40ads_H100_v5") == "NVIDIA-H100-NVL");
  const auto rtx_pro_6000 = [&](const char* type) {
    const Product product = parse_product(azure(type)).product;
    CHECK(product.class_name() == "RTX-PRO-6000");
    CHECK(product.geometry == nullptr);  // a virtual machine does not partition it
    return product.memory_gb;
  };
  CHECK(rtx_pro_6000("Standard_NC24lds_xl_RTXPRO6000BSE_v6") == 24);
  CHECK(rtx_pro_6000("Standard_NC36ds_xl_RTXPRO6000BSE_v6") == 24);
  CHECK(rtx_pro_6000("Standard_NC72lds_xl_RTXPRO6000BSE_v6") == 48);
  CHECK(rtx_pro_6000("Standard_NC288ds_xl_RTXPRO6000BSE_v6") == 96);
  // A size of the preview, which is not documented any more.
  CHECK(azure("Standard_NC128ds_xl_RTXPRO6000BSE_v6").empty());
  CHECK(azure("Standard_NCC40ads_H100_v5") == "NVIDIA-H100-NVL");
  CHECK(azure("Standard_NC16as_T4_v3") == "Tesla-T4");
  CHECK(azure("Standard_NV6ads_A10_v5") == "NVIDIA-A10-4Q");
  CHECK(azure("Standard_NV36ads_A10_v5") == "NVIDIA-A10");
  CHECK(azure("Standard_D4s_v3").empty());
  CHECK(azure("p5.48xlarge").empty());
  // Karpenter names the class alone.
  const auto karpenter = [](const char* type) {
    const k8s::StringMap labels{{"karpenter.azure.com/sku-gpu-name", "A100"},
                                {"node.kubernetes.io/instance-type", type}};
    return std::string(product_label_of(labels, {}));
  };
  CHECK(karpenter("Standard_NC24ads_A100_v4") == "NVIDIA-A100-80GB-PCIe");
  CHECK(karpenter("Standard_NC1_A100_v9") == "A100");
  CHECK(product_label_of(both, {}) == "NVIDIA-L4");
  CHECK(product_label_of(cloud, {}) == "l4");
  CHECK(product_label_of(empty, {}).empty());
}

TEST_CASE("which labels name the GPUs of a node, and nothing else") {
  const SiteLabels site{.product = {"gpu-type"}, .memory = {"gpu-memory"}};
  for (const char* label :
       {"nvidia.com/gpu.product", "nvidia.com/gpu.family", "cloud.google.com/gke-accelerator",
        "gpu.nvidia.com/class", "gpu-type"}) {
    INFO(label);
    CHECK(names_type(label, site));
  }
  for (const char* label : {"nvidia.com/gpu.memory", "gpu-memory", "zone", ""}) {
    INFO(label);
    CHECK_FALSE(names_type(label, site));
  }
  CHECK_FALSE(names_type("gpu-type", {}));
  CHECK(
      type_labels_of({{"gpu-type", "l4"}, {"nvidia.com/gpu.family", "ada"}, {"zone", "a"}}, site) ==
      k8s::StringMap{{"gpu-type", "l4"}, {"nvidia.com/gpu.family", "ada"}});
}

TEST_CASE("which labels say that a node has GPUs") {
  const SiteLabels site{.product = {"gpu-type"}, .memory = {}};
  const auto speak = [&](const char* key, const char* value) {
    return labels_speak_of_gpus({{key, value}}, site);
  };
  CHECK(speak("nvidia.com/gpu.product", "NVIDIA-L4"));
  CHECK(speak("gpu-type", "l4"));
  CHECK_FALSE(speak("gpu-type", ""));
  CHECK(speak("feature.node.kubernetes.io/pci-10de.present", "true"));
  CHECK_FALSE(speak("feature.node.kubernetes.io/pci-10de.present", "false"));
  CHECK(speak("kubernetes.azure.com/accelerator", "nvidia"));
  CHECK(speak("amd.com/gpu.family", "AI"));
  CHECK_FALSE(speak("amd.com/gpu.family", ""));
  CHECK(speak("node.kubernetes.io/instance-type", "Standard_ND96isr_H200_v5"));
  CHECK_FALSE(speak("node.kubernetes.io/instance-type", "Standard_D4s_v3"));
  CHECK_FALSE(speak("zone", "a"));
}

TEST_CASE("numbers in labels are whole, and not too large") {
  std::vector<std::string> complaints;
  const k8s::StringMap labels{{"a", ""}, {"b", "2147483647"}, {"c", "2147483648"}, {"d", "0"}};
  LabelReader reader(labels, complaints);
  CHECK(reader.number({"none", "a", "b"}) == 2'147'483'647);
  CHECK(reader.number({"d", "b"}) == 0);
  CHECK(reader.number({"none", "a"}) == std::nullopt);
  CHECK(complaints.empty());
  CHECK(reader.number({"c"}) == std::nullopt);
  CHECK(complaints ==
        std::vector<std::string>{"label c: \"2147483648\" is not a whole number of 0 and more"});
  CHECK(reader.text({"none", "a", "b", "d"}) == "2147483647");
  CHECK(label_of(labels, "b") == "2147483647");
  CHECK(label_of(labels, "none").empty());
}
