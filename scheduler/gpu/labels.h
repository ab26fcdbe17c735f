// The labels that name a node's GPUs: NVIDIA's (GPU feature discovery and the GPU operator), and
// the clouds', which are read if NVIDIA's are missing.
//
// Users who may label nodes can write any value, so numbers are read strictly: a value that is not
// a number is reported, with the label's name, and counts as absent.
//
// Sources: NVIDIA k8s-device-plugin, docs/gpu-feature-discovery; the documentation of GKE node
// labels, of Karpenter and EKS Auto Mode, of AKS node auto-provisioning, and of CoreWeave.
#pragma once

#include "k8s-client/api/meta.h"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sched::gpu {

inline constexpr std::string_view kProductLabel = "nvidia.com/gpu.product";
inline constexpr std::string_view kMemoryLabel = "nvidia.com/gpu.memory";  // MiB
inline constexpr std::string_view kSharingLabel = "nvidia.com/gpu.sharing-strategy";
inline constexpr std::string_view kPartitionSizeLabel = "cloud.google.com/gke-gpu-partition-size";

// The names of labels that a site has made itself; they count if no other label names the same.
struct SiteLabels {
  std::vector<std::string> product;  // as kProductLabel: "H100", "a100", "NVIDIA-L4"
  std::vector<std::string> memory;   // of a GPU: "80Gi", or as kMemoryLabel
  friend bool operator==(const SiteLabels&, const SiteLabels&) = default;
};

// Labels with the same meaning, in the order of precedence.
using Synonyms = std::initializer_list<std::string_view>;

// Reads a node's labels and collects what is wrong with them. Both arguments outlive it.
class LabelReader {
 public:
  LabelReader(const k8s::StringMap& labels, std::vector<std::string>& complaints)
      : labels_(labels), complaints_(complaints) {}

  // The value of the first of the labels that exists and is not empty; empty: none.
  [[nodiscard]] std::string_view text(Synonyms keys) const { return first_of(keys).value; }
  // The name of that label; empty: none.
  [[nodiscard]] std::string_view key(Synonyms keys) const { return first_of(keys).key; }
  // Its value as a number of 0 … 2^31 - 1; nullopt: there is none, or it is not such a number.
  [[nodiscard]] std::optional<std::int64_t> number(Synonyms keys);
  // A label as an amount of memory in MiB: a quantity with its unit, or a number of MiB; nullopt:
  // it is not there, or is not such an amount.
  [[nodiscard]] std::optional<std::int64_t> memory(std::string_view key);

  void complain(std::string complaint) { complaints_.push_back(std::move(complaint)); }

 private:
  struct Label {
    std::string_view key;
    std::string_view value;
  };
  [[nodiscard]] Label first_of(Synonyms keys) const;

  const k8s::StringMap& labels_;
  std::vector<std::string>& complaints_;
};

// The GPU model that a node's labels name: NVIDIA's before the clouds' before the site's. If there
// is none, or the class alone by Karpenter on Azure, the GPU that Azure builds into machines of
// that instance type; empty: none.
[[nodiscard]] std::string_view product_label_of(const k8s::StringMap& labels,
                                                const SiteLabels& site);
// Whether any labels state that the node has GPUs, even if it offers none: the GPU operators', the
// clouds', or node feature discovery's for a card on the PCI bus.
[[nodiscard]] bool labels_speak_of_gpus(const k8s::StringMap& labels, const SiteLabels& site);
// Whether GPU feature discovery runs on the node, by the GPU operator's label, and has not labelled
// it yet. / Whether that label says that it shall not run there.
[[nodiscard]] bool awaits_discovery(const k8s::StringMap& labels);
[[nodiscard]] bool excludes_discovery(const k8s::StringMap& labels);
// Whether GPU feature discovery has labelled the node.
[[nodiscard]] bool is_discovered(const k8s::StringMap& labels);
// Whether that label may be GPU feature discovery's; false for those of mig-manager.
[[nodiscard]] bool is_of_discovery(std::string_view label);
// Whether GPU feature discovery says how the node's GPUs are shared, or that they are not.
[[nodiscard]] bool states_sharing(const k8s::StringMap& labels);
// Whether it says that they are not.
[[nodiscard]] bool denies_sharing(const k8s::StringMap& labels);
// The value of one label; empty if there is none. Valid as long as the labels are.
[[nodiscard]] std::string_view label_of(const k8s::StringMap& labels, std::string_view key);

// Whether a label names the GPUs of its node, and nothing else. A pod that selects nodes by it thus
// states which types it allows. These are the product under all of its names (product_label_of),
// and NVIDIA's family ("hopper").
[[nodiscard]] bool names_type(std::string_view label, const SiteLabels& site);
// Those labels of a node.
[[nodiscard]] k8s::StringMap type_labels_of(const k8s::StringMap& labels, const SiteLabels& site);

}  // namespace sched::gpu
