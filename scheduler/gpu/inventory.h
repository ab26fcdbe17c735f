// The GPUs that a node offers: whole GPUs, replicas that share one, MIG instances.
//
// One resource name means different things on different nodes. A piece of nvidia.com/gpu is a GPU;
// or one of several pods' shares of it (time-slicing, MPS); or, under the MIG strategy `single`, an
// instance. Labels show which, and they can be wrong: written by hand, left over from before a
// repartition, or for one product although the node has two. So contradictions are read cautiously
// (a piece that may be shared counts as shared) and reported, and no amount is ever taken from a
// label: only allocatable counts. After a repartition under `single` the product's label is old for
// up to a minute; if the amount is that of mig-manager's configuration, this decides, also where
// the strategy was `mixed` until now, or where the GPUs are whole again. If no label states how
// many pods share a GPU, amounts decide: a node with k times as many nvidia.com/gpu as GPUs, k ≥ 2,
// shares them in an unknown way (a device plugin without GPU feature discovery, HAMi's). For that
// alone capacity counts, too: unlike allocatable, it stays when a GPU fails, and for five minutes
// without a device plugin.
//
// Other vendors' devices, and NVIDIA's under other resource names, are plain extended resources; of
// these only the presence is kept here (`others`). What is wrong with a node's GPUs, for example
// that their MIG configuration is being changed, is in health.h.
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
// Labels with more pods to a GPU are ignored.
inline constexpr std::int64_t kMostReplicas = 1'024;

enum class Sharing : std::uint8_t {
  kNone,
  kTimeSlicing,  // pods take turns; each may use all of the memory
  kMps,          // pods run at the same time, with a part of memory and compute each
  kUnknown,      // shared in an unknown way
};
[[nodiscard]] std::string_view to_string(Sharing sharing);  // "time-slicing"

// Pieces that a node has, by resource.
struct PieceCounts {
  std::int64_t gpus = 0;    // nvidia.com/gpu
  std::int64_t shared = 0;  // nvidia.com/gpu.shared
  friend bool operator==(const PieceCounts&, const PieceCounts&) = default;
};

// What one piece of nvidia.com/gpu is.
enum class GpuPiece : std::uint8_t { kWholeGpu, kReplica, kMigInstance };

// Instances of one profile under the strategy `mixed`, as one resource offers them.
struct MigInstances {
  ResourceId resource{};        // nvidia.com/mig-1g.10gb, or nvidia.com/mig-1g.10gb.shared
  std::string profile;          // "1g.10gb", as the resource writes it
  std::int64_t pieces = 0;      // > 0
  bool shared = false;          // pieces are replicas of instances, whatever their name is
  std::int64_t memory_mib = 0;  // of an instance; 0: not known
  std::int64_t slices = 0;      // memory slices of an instance; 0: not known for this model
  friend bool operator==(const MigInstances&, const MigInstances&) = default;
};

struct Inventory {
  // Under the strategy `single`: the profile of which nvidia.com/gpu are instances, "1g.10gb", or
  // kInvalidProfile if the device plugin refuses the way in which the GPUs are partitioned; else
  // empty.
  std::string single_profile;
  std::vector<MigInstances> instances;  // by ascending resource
  // How many pods share an instance of a profile, if more than one: by profile as the resource
  // writes it, ascending. From labels, also for a profile that is not offered now.
  std::vector<std::pair<std::string, std::int64_t>> instance_replicas;

  bool mig_capable = false;
  std::string mig_strategy;  // "none", "single", "mixed"; empty: not stated

  // The device plugin refuses a container that asks for several pieces of a shared GPU: NVIDIA's
  // does with MPS, GKE's with time-sharing, and with MPS unless the node has a single GPU.
  bool one_piece_a_container = false;

  // The memory of one piece of nvidia.com/gpu, in MiB: of the GPU, of an instance, with MPS of a
  // replica's part; as the device reports it, else as marketed. 0: not known, as with MPS if
  // neither labels nor amounts say how many parts a GPU has.
  std::int64_t memory_mib = 0;
  Capability compute;  // {0, 0}: not known
  std::string driver;  // "570.124.06"; empty: not stated
  std::string cuda;    // the newest that the driver supports: "12.8"; empty: not stated

  // With those that are not healthy; 0: not stated. Read only to find how many share a GPU.
  PieceCounts capacity;

  // What is wrong with the node's labels or amounts, for the node's administrator.
  std::vector<std::string> complaints;

  // The fields from here on are read by scores for every node; they are adjacent in memory.
  Product product;
  // The node also has GPUs of other products; the label names only one product.
  bool mixed_products = false;
  GpuPiece piece = GpuPiece::kWholeGpu;
  // How pods share a piece's GPU or instance; kNone: they do not.
  Sharing sharing = Sharing::kNone;
  bool labels_awaited = false;  // by await_labels()
  std::int64_t replicas = 1;    // pieces to a GPU, or to an instance; 1 … kMostReplicas
  // GPUs of the product as labels count them, whole or partitioned; under `single`, after they are
  // partitioned, NVIDIA's label counts their instances. 0: not stated. No amount is derived from
  // it.
  std::int64_t gpu_count = 0;
  std::int64_t gpus = 0;    // nvidia.com/gpu on offer
  std::int64_t shared = 0;  // nvidia.com/gpu.shared on offer

  // GPUs that one pod has exclusively.
  [[nodiscard]] std::int64_t whole_gpus() const { return piece == GpuPiece::kWholeGpu ? gpus : 0; }
  // The node has accelerators that are in none of the amounts here: GPUs that its labels name while
  // it offers none (no device plugin yet, MIG configuration being changed), other vendors' devices,
  // and NVIDIA's under other resource names.
  bool others = false;

  // Whether it offers any of this, if only a share.
  [[nodiscard]] bool has_gpu() const { return gpus > 0 || shared > 0 || !instances.empty(); }
  // Whether the node is meant for GPUs or similar devices, whatever it offers now.
  [[nodiscard]] bool is_gpu_node() const { return has_gpu() || others; }

  friend bool operator==(const Inventory&, const Inventory&) = default;
};

// The node's GPU model and software as text, to find what broken nodes have in common: "NVIDIA-L4,
// driver 570.124.06, CUDA 12.8". Empty: the labels do not state it.
[[nodiscard]] std::string platform_of(const Inventory& inventory);

// O(labels + resources).
[[nodiscard]] Inventory inventory_of(const k8s::StringMap& labels, const Resources& allocatable,
                                     const ResourceNames& names, const SiteLabels& site,
                                     const PieceCounts& capacity = {});

// The node's labels are older than what it offers, as it seems: whole GPUs count as shared in an
// unknown way, or as shared instances if mig-manager's labels say that it has partitioned all GPUs
// into them, or has done something else than to make them whole: then, and where they were
// instances until now, their profile may not be known, and `single_profile` is empty. A piece may
// be a part of MPS: its memory is not known, and a container may ask for one only. Nothing is
// complained of until the labels are there.
void await_labels(Inventory& inventory, const k8s::StringMap& labels);
// Why such a node refuses a pod.
inline constexpr std::string_view kNotLabelledYet =
    "GPU feature discovery has not labelled yet what it offers";

}  // namespace sched::gpu
