#include "scheduler/gpu/labels.h"

#include "k8s-client/api/quantity.h"
#include "k8s-client/parse_number.h"
#include "scheduler/gpu/health.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

namespace sched::gpu {
namespace {

// Karpenter's on Azure. It names only the class: "A100".
constexpr std::string_view kAzureLabel = "karpenter.azure.com/sku-gpu-name";
// In the order of precedence.
constexpr std::array<std::string_view, 8> kProductLabels = {kProductLabel,
                                                            "cloud.google.com/gke-accelerator",
                                                            "karpenter.k8s.aws/instance-gpu-name",
                                                            "eks.amazonaws.com/instance-gpu-name",
                                                            kAzureLabel,
                                                            "k8s.amazonaws.com/accelerator",
                                                            "gpu.nvidia.com/model",
                                                            "gpu.nvidia.com/class"};
// Labels with the value "true" on nodes with GPUs. The GPU operators use node feature discovery's
// labels until their own exist: 10de is NVIDIA, 0300 and 0302 are display and 3D controllers.
constexpr std::array<std::string_view, 5> kPresenceLabels = {
    "nvidia.com/gpu.present", "feature.node.kubernetes.io/pci-10de.present",
    "feature.node.kubernetes.io/pci-0300_10de.present",
    "feature.node.kubernetes.io/pci-0302_10de.present", "feature.node.kubernetes.io/amd-gpu"};
// The same with any value: AKS' value is the vendor.
constexpr std::array<std::string_view, 4> kOtherLabels = {
    "kubernetes.azure.com/accelerator", "amd.com/gpu.product-name", "amd.com/gpu.family",
    "cloud.google.com/gke-tpu-accelerator"};
// AKS' own label names only the vendor. This is by node.kubernetes.io/instance-type: the first row
// with the beginning and the end of a size's name. ND are boards with NVLink, NC and NV such with
// PCIe; letters between the two (ND96is, ND96isr, ND96isrf) are about disks and networks. Sizes
// with a part of a GPU have its vGPU type, and so have all with RTX PRO 6000.
struct InstanceType {
  std::string_view beginning;
  std::string_view ending;
  std::string_view product;
};
constexpr std::string_view kInstanceTypeLabel = "node.kubernetes.io/instance-type";
constexpr std::string_view kAzurePrefix = "Standard_";
constexpr std::array kAzureTypes = {
    InstanceType{"NC", "as_T4_v3", "Tesla-T4"},
    InstanceType{"NC6s_v3", "", "Tesla-V100-PCIE-16GB"},
    InstanceType{"NC12s_v3", "", "Tesla-V100-PCIE-16GB"},
    InstanceType{"NC24s_v3", "", "Tesla-V100-PCIE-16GB"},
    InstanceType{"NC24rs_v3", "", "Tesla-V100-PCIE-16GB"},
    InstanceType{"ND40rs_v2", "", "Tesla-V100-SXM2-32GB"},
    InstanceType{"ND96asr_v4", "", "NVIDIA-A100-SXM4-40GB"},
    InstanceType{"ND96ams", "_A100_v4", "NVIDIA-A100-SXM4-80GB"},
    InstanceType{"NC", "ads_A100_v4", "NVIDIA-A100-80GB-PCIe"},
    InstanceType{"NV6ads_A10_v5", "", "NVIDIA-A10-4Q"},
    InstanceType{"NV12ads_A10_v5", "", "NVIDIA-A10-8Q"},
    InstanceType{"NV18ads_A10_v5", "", "NVIDIA-A10-12Q"},
    InstanceType{"NV", "_A10_v5", "NVIDIA-A10"},
    InstanceType{"ND", "_H100_v5", "NVIDIA-H100-80GB-HBM3"},
    InstanceType{"NC", "_H100_v5", "NVIDIA-H100-NVL"},
    InstanceType{"NC24", "_RTXPRO6000BSE_v6", "NVIDIA-RTX-Pro-6000-Blackwell-DC-1-24Q"},
    InstanceType{"NC36", "_RTXPRO6000BSE_v6", "NVIDIA-RTX-Pro-6000-Blackwell-DC-1-24Q"},
    InstanceType{"NC72", "_RTXPRO6000BSE_v6", "NVIDIA-RTX-Pro-6000-Blackwell-DC-2-48Q"},
    InstanceType{"NC144", "_RTXPRO6000BSE_v6", "NVIDIA-RTX-Pro-6000-Blackwell-DC-4-96Q"},
    InstanceType{"NC288", "_RTXPRO6000BSE_v6", "NVIDIA-RTX-Pro-6000-Blackwell-DC-4-96Q"},
    InstanceType{"ND", "_H200_v5", "NVIDIA-H200"},
    InstanceType{"ND", "_GB200_v6", "NVIDIA-GB200"},
    InstanceType{"ND", "_GB300_v6", "NVIDIA-GB300"},
};
constexpr std::string_view kFamilyLabel = "nvidia.com/gpu.family";
constexpr std::string_view kDiscoveryLabel = "nvidia.com/gpu.deploy.gpu-feature-discovery";

// What Azure builds into a machine of the node's size; empty: it is not known.
std::string_view azure_product_of(const k8s::StringMap& labels) {
  std::string_view size = label_of(labels, kInstanceTypeLabel);
  if (!size.starts_with(kAzurePrefix)) return {};
  size.remove_prefix(kAzurePrefix.size());
  for (const InstanceType& each : kAzureTypes) {
    if (size.starts_with(each.beginning) && size.ends_with(each.ending)) return each.product;
  }
  return {};
}

}  // namespace

LabelReader::Label LabelReader::first_of(Synonyms keys) const {
  for (const std::string_view key : keys) {
    const std::string* found = labels_.find(key);
    if (found != nullptr && !found->empty()) return {.key = key, .value = *found};
  }
  return {};
}

std::optional<std::int64_t> LabelReader::number(Synonyms keys) {
  const auto [key, text] = first_of(keys);
  if (text.empty()) return std::nullopt;
  const auto value = k8s::parse_number<std::int64_t>(text);
  if (value && *value >= 0 && *value <= std::numeric_limits<std::int32_t>::max()) return value;
  complain(fmt::format("label {}: \"{}\" is not a whole number of 0 and more", key, text));
  return std::nullopt;
}

std::optional<std::int64_t> LabelReader::memory(std::string_view key) {
  constexpr std::int64_t kMib = std::int64_t{1} << 20;
  const std::string_view text = label_of(labels_, key);
  if (text.empty()) return std::nullopt;
  const auto amount = k8s::Quantity::parse(text);
  if (amount && !(*amount < k8s::Quantity::of(1))) {
    const std::int64_t value = amount->value();
    return value < kMib ? value : value / kMib;
  }
  complain(fmt::format("label {}: \"{}\" is not an amount of memory, such as 80Gi", key, text));
  return std::nullopt;
}

std::string_view label_of(const k8s::StringMap& labels, std::string_view key) {
  const std::string* found = labels.find(key);
  return found == nullptr ? std::string_view() : *found;
}

std::string_view product_label_of(const k8s::StringMap& labels, const SiteLabels& site) {
  for (const std::string_view label : kProductLabels) {
    const std::string_view value = label_of(labels, label);
    if (value.empty()) continue;
    const std::string_view board = label == kAzureLabel ? azure_product_of(labels) : value;
    return board.empty() ? value : board;
  }
  for (const std::string& label : site.product) {
    const std::string_view value = label_of(labels, label);
    if (!value.empty()) return value;
  }
  return azure_product_of(labels);
}

bool labels_speak_of_gpus(const k8s::StringMap& labels, const SiteLabels& site) {
  return !product_label_of(labels, site).empty() ||
         std::any_of(kPresenceLabels.begin(), kPresenceLabels.end(),
                     [&](std::string_view key) { return label_of(labels, key) == "true"; }) ||
         std::any_of(kOtherLabels.begin(), kOtherLabels.end(),
                     [&](std::string_view key) { return !label_of(labels, key).empty(); });
}

bool awaits_discovery(const k8s::StringMap& labels) {
  return label_of(labels, kDiscoveryLabel) == "true" && !is_discovered(labels);
}

bool excludes_discovery(const k8s::StringMap& labels) {
  return label_of(labels, kDiscoveryLabel) == "false";
}

bool is_discovered(const k8s::StringMap& labels) {
  return !label_of(labels, kProductLabel).empty() || states_sharing(labels);
}

bool is_of_discovery(std::string_view label) {
  return label.starts_with("nvidia.com/") && !label.starts_with(kMigConfigLabel);
}

bool states_sharing(const k8s::StringMap& labels) {
  return !label_of(labels, kSharingLabel).empty();
}

bool denies_sharing(const k8s::StringMap& labels) {
  return label_of(labels, kSharingLabel) == "none";
}

bool names_type(std::string_view label, const SiteLabels& site) {
  return label == kFamilyLabel ||
         std::find(kProductLabels.begin(), kProductLabels.end(), label) != kProductLabels.end() ||
         std::find(site.product.begin(), site.product.end(), label) != site.product.end();
}

k8s::StringMap type_labels_of(const k8s::StringMap& labels, const SiteLabels& site) {
  k8s::StringMap some;
  for (const auto& [key, value] : labels) {
    if (names_type(key, site)) some.set(key, value);
  }
  return some;
}

}  // namespace sched::gpu
