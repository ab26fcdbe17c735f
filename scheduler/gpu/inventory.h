// What a node offers of GPUs: whole ones, replicas that share one, MIG instances.
//
// One resource name means different things on different nodes. A piece of nvidia.com/gpu is a GPU;
// or one of several pods' turns on it (time-slicing, MPS); or, under the MIG strategy `single`, an
// instance. Labels tell which, and they can be wrong: written by hand, left over from before a
// repartition, or of one product where a node has two. So whatever contradicts itself is read with
// caution (a piece that may be shared counts as shared) and complained of, and no count is ever
// taken from a label: what there is to give away is allocatable alone. Where no label speaks of
// sharing, amounts do: a node that offers k times as many nvidia.com/gpu as it has GPUs, k ≥ 2,
// shares them in a way that is not known (a device plugin without GPU feature discovery, HAMi's).
//
// Other vendors' devices, and NVIDIA's under resource names of somebody's own, are plain extended
// resources and not in here, but for that there are some. What speaks against a node's GPUs, among
// it that they are just being cut anew, is health.h.
//
// Sources: NVIDIA k8s-device-plugin v0.20 (resource names, docs/gpu-feature-discovery), the GPU
// operator's MIG manager, GKE's documentation of GPU sharing and its device plugin
// (container-engine-accelerators, pkg/gpu/nvidia/gpusharing).
#pragma once

#include "k8s-client/api/meta.h"
#include "scheduler/base/resources.h"
#include "scheduler/gpu/labels.h"
#include "scheduler/gpu/product.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sched::gpu {

inline constexpr std::string_view kSharedResource = "nvidia.com/gpu.shared";
inline constexpr std::string_view kInvalidProfile = "INVALID";
// Labels that speak of more pods to a GPU are not believed.
inline constexpr std::int64_t kMostReplicas = 1'024;

enum class Sharing : std::uint8_t {
  kNone,
  kTimeSlicing,  // pods take turns, and each may use all of the memory
  kMps,          // pods run at once, with a part of memory and compute each
  kUnknown,      // shared, and nothing says how
};
[[nodiscard]] std::string_view to_string(Sharing sharing);  // "time-slicing"

// What one piece of nvidia.com/gpu is.
enum class GpuPiece : std::uint8_t { kWholeGpu, kReplica, kMigInstance };

// Instances of one profile under the strategy `mixed`, as one resource offers them.
struct MigInstances {
  ResourceId resource{};        // nvidia.com/mig-1g.10gb, or nvidia.com/mig-1g.10gb.shared
  std::string profile;          // "1g.10gb", as the resource writes it
  std::int64_t pieces = 0;      // > 0
  bool shared = false;          // pieces are replicas of instances, whatever they are called
  std::int64_t memory_mib = 0;  // of an instance; 0: not known
  std::int64_t slices = 0;      // memory slices of an instance; 0: not known of this model
  friend bool operator==(const MigInstances&, const MigInstances&) = default;
};

struct Inventory {
  // Under the strategy `single`: the profile of which nvidia.com/gpu are instances, "1g.10gb", or
  // kInvalidProfile where the GPUs are cut in a way that the device plugin refuses; else empty.
  std::string single_profile;
  std::vector<MigInstances> instances;  // by ascending resource
  // How many pods share an instance of a profile, where it is more than one: by profile as the
  // resource writes it, ascending. What labels say, also of a profile that is not on offer just
  // now.
  std::vector<std::pair<std::string, std::int64_t>> instance_replicas;

  bool mig_capable = false;
  std::string mig_strategy;  // "none", "single", "mixed"; empty: not said

  // The device plugin refuses a container that asks for several pieces of a shared GPU: NVIDIA's
  // does with MPS, GKE's with time-sharing, and with MPS unless the node has a single GPU.
  bool one_piece_a_container = false;

  // Of one piece of nvidia.com/gpu, in MiB: of the GPU, of an instance, with MPS of a replica's
  // part; as the device reports it, else as marketed. 0: not known.
  std::int64_t memory_mib = 0;
  Capability compute;  // {0, 0}: not known
  std::string driver;  // "570.124.06"; empty: not said
  std::string cuda;    // the most that the driver supports: "12.8"; empty: not said

  // What is wrong with the node's labels or amounts, for whoever keeps the node.
  std::vector<std::string> complaints;

  // From here on: what scores ask of every node, side by side in memory.
  Product product;
  // The node has GPUs of other products besides: what the label names is one of them.
  bool mixed_products = false;
  GpuPiece piece = GpuPiece::kWholeGpu;
  // How pods share what nvidia.com/gpu or nvidia.com/gpu.shared is a piece of; kNone: they do not.
  Sharing sharing = Sharing::kNone;
  std::int64_t replicas = 1;  // pieces to a GPU, or to an instance; 1 … kMostReplicas
  // GPUs of the product as labels count them, whole or cut; under `single`, once they are cut,
  // NVIDIA's label counts their instances. 0: not said. Nothing is given away by it.
  std::int64_t gpu_count = 0;
  std::int64_t gpus = 0;    // nvidia.com/gpu on offer
  std::int64_t shared = 0;  // nvidia.com/gpu.shared on offer

  // GPUs that one pod has to itself.
  [[nodiscard]] std::int64_t whole_gpus() const { return piece == GpuPiece::kWholeGpu ? gpus : 0; }
  // The node is there for accelerators of which none of the amounts here tells: those that its
  // labels speak of while it offers none (no device plugin yet, GPUs that are just being cut),
  // other vendors', and NVIDIA's under a name of somebody's own.
  bool others = false;

  // Whether there is any of this, and be it nothing but a share.
  [[nodiscard]] bool has_gpu() const { return gpus > 0 || shared > 0 || !instances.empty(); }
  // Whether the node is there for GPUs, or their like, whatever it offers just now.
  [[nodiscard]] bool is_gpu_node() const { return has_gpu() || others; }

  friend bool operator==(const Inventory&, const Inventory&) = default;
};

// What is in the node, for whoever looks for what broken nodes have in common: "NVIDIA-L4, driver
// 570.124.06, CUDA 12.8". Empty: labels do not say.
[[nodiscard]] std::string platform_of(const Inventory& inventory);

// O(labels + resources).
[[nodiscard]] Inventory inventory_of(const k8s::StringMap& labels, const Resources& allocatable,
                                     const ResourceNames& names, const SiteLabels& site);

}  // namespace sched::gpu
