#include "scheduler/gpu/labels.h"

#include "scheduler/gpu/type_labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

namespace sched::gpu {
namespace {

// The one that counts first comes first.
constexpr std::array<std::string_view, 8> kProductLabels = {kProductLabel,
                                                            "cloud.google.com/gke-accelerator",
                                                            "karpenter.k8s.aws/instance-gpu-name",
                                                            "eks.amazonaws.com/instance-gpu-name",
                                                            "karpenter.azure.com/sku-gpu-name",
                                                            "k8s.amazonaws.com/accelerator",
                                                            "gpu.nvidia.com/model",
                                                            "gpu.nvidia.com/class"};
// That a node has GPUs, where the value is "true". The GPU operators go by node feature discovery's
// before their own labels are there: 10de is NVIDIA, 0300 and 0302 are display and 3D controllers.
constexpr std::array<std::string_view, 5> kPresenceLabels = {
    "nvidia.com/gpu.present", "feature.node.kubernetes.io/pci-10de.present",
    "feature.node.kubernetes.io/pci-0300_10de.present",
    "feature.node.kubernetes.io/pci-0302_10de.present", "feature.node.kubernetes.io/amd-gpu"};
// The same, whatever the value is: AKS' says the vendor.
constexpr std::array<std::string_view, 4> kOtherLabels = {
    "kubernetes.azure.com/accelerator", "amd.com/gpu.product-name", "amd.com/gpu.family",
    "cloud.google.com/gke-tpu-accelerator"};
constexpr std::string_view kFamilyLabel = "nvidia.com/gpu.family";

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
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (whole && value >= 0 && value <= std::numeric_limits<std::int32_t>::max()) return value;
  complain(fmt::format("label {}: \"{}\" is not a whole number of 0 and more", key, text));
  return std::nullopt;
}

std::string_view label_of(const k8s::StringMap& labels, std::string_view key) {
  const std::string* found = labels.find(key);
  return found == nullptr ? std::string_view() : *found;
}

std::string_view product_label_of(const k8s::StringMap& labels) {
  for (const std::string_view label : kProductLabels) {
    const std::string* found = labels.find(label);
    if (found != nullptr && !found->empty()) return *found;
  }
  return {};
}

bool labels_speak_of_gpus(const k8s::StringMap& labels) {
  return !product_label_of(labels).empty() ||
         std::any_of(kPresenceLabels.begin(), kPresenceLabels.end(),
                     [&](std::string_view key) { return label_of(labels, key) == "true"; }) ||
         std::any_of(kOtherLabels.begin(), kOtherLabels.end(),
                     [&](std::string_view key) { return !label_of(labels, key).empty(); });
}

bool names_type(std::string_view label) {
  return label == kFamilyLabel ||
         std::find(kProductLabels.begin(), kProductLabels.end(), label) != kProductLabels.end();
}

k8s::StringMap type_labels_of(const k8s::StringMap& labels) {
  k8s::StringMap some;
  for (const auto& [key, value] : labels) {
    if (names_type(key)) some.set(key, value);
  }
  return some;
}

}  // namespace sched::gpu
