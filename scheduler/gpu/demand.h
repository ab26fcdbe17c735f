// A pod's demand for GPUs, read from its resource requests and its node selection.
//
//   nvidia.com/gpu: 2                       two whole GPUs
//   gpu-scheduler.io/gpu-milli: 460         460 thousandths of one GPU
//   nvidia.com/mig-3g.40gb: 1               one MIG instance
//
// Containers may ask for different things; the pod's demand is the sum: two whole GPUs and a
// 3g.40gb, or a 3g.40gb and two 1g.10gb. A replica of an instance (nvidia.com/mig-….shared) is not
// an instance.
//
// A share in thousandths counts only if devices are kept one by one (replay); elsewhere it is a
// plain extended resource. A pod that asks for whole GPUs may also name their thousandths; then the
// whole GPUs count.
#pragma once

#include "k8s-client/api/pod.h"
#include "scheduler/base/resources.h"
#include "scheduler/gpu/labels.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sched::gpu {

inline constexpr std::string_view kMilliResource = "gpu-scheduler.io/gpu-milli";
inline constexpr std::string_view kNvidiaPrefix = "nvidia.com/";
inline constexpr std::string_view kGpuResource = "nvidia.com/gpu";
inline constexpr std::string_view kMigResourcePrefix = "nvidia.com/mig-";

// MIG instances of one profile.
struct InstanceDemand {
  std::string profile;     // as the resource writes it: "1g.10gb.me"
  std::int64_t count = 0;  // > 0
  friend bool operator==(const InstanceDemand&, const InstanceDemand&) = default;
};

struct Demand {
  std::int64_t gpus = 0;                    // whole ones, or 1 for a share; 0: none
  std::int64_t milli = 0;                   // of each of them, 1 … 1,000; 0 if there are none
  std::vector<InstanceDemand> instances{};  // each profile once, by ascending resource
  // The GPU products that the pod may run on, by canonical name (product.h), sorted; empty: any.
  // From a node selector or a required node affinity (In) on kProductLabel, if each of its terms
  // names some. This is not a filter: the node affinity itself decides.
  std::vector<std::string> products{};

  [[nodiscard]] bool is_none() const { return gpus == 0 && instances.empty(); }
  // A part of one GPU, in thousandths.
  [[nodiscard]] bool is_share() const { return gpus == 1 && milli > 0 && milli < 1'000; }
  // MIG instances, with or without anything else.
  [[nodiscard]] bool has_instances() const { return !instances.empty(); }
  // One instance and nothing else.
  [[nodiscard]] bool is_one_instance() const {
    return gpus == 0 && instances.size() == 1 && instances.front().count == 1;
  }
  // A part of one GPU and nothing else.
  [[nodiscard]] bool is_one_piece() const {
    return has_instances() ? is_one_instance() : is_share();
  }
  // Of GPUs and shares; instances do not count.
  [[nodiscard]] std::int64_t total_milli() const { return gpus * milli; }

  friend bool operator==(const Demand&, const Demand&) = default;
};

// `requests` as in PodShape.
[[nodiscard]] Demand demand_of(const std::vector<ResourceAmount>& requests,
                               const k8s::Pod::Spec& spec, const ResourceNames& names);

// How many pieces of nvidia.com/gpu and nvidia.com/gpu.shared together; a piece is a GPU, a replica
// or an instance. O(requests log names).
[[nodiscard]] std::int64_t pieces_in(const std::vector<ResourceAmount>& requests,
                                     const ResourceNames& names);

}  // namespace sched::gpu
