// What a pod asks for that counts against a GPU quota, read from its resource requests:
//
//   nvidia.com/gpu                   whole GPUs, or what the node offers under that name
//   nvidia.com/gpu.shared            replicas of a shared GPU
//   nvidia.com/mig-<profile>         MIG instances; with the suffix .shared, replicas of one
//   nvidia.com/gpu-a100, …           GPUs under other names (gpu/resource_kind.h): each is a whole
//                                    GPU, because nothing states what it is
//   gpu-scheduler.io/gpu-milli       thousandths of one GPU (replay)
//
// How many GPUs that counts depends on the node: charge_class.h.
#pragma once

#include "scheduler/base/resources.h"
#include "scheduler/quota/type_choice.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sched::quota {

// MIG instances of one profile, as the resource's name writes it ("1g.10gb.me").
struct Instances {
  std::string profile;
  std::int64_t count = 0;
  bool shared = false;
  friend bool operator==(const Instances&, const Instances&) = default;
};

struct Demand {
  std::int64_t pods = 1;  // that ask for it together
  std::int64_t gpus = 0;
  std::int64_t shared = 0;
  std::int64_t milli = 0;      // 0 if `gpus` counts more
  std::int64_t own_names = 0;  // pieces under other names
  std::vector<Instances> instances{};
  TypeChoice allowed{};  // which types of GPU the pod allows

  [[nodiscard]] bool is_none() const {
    return gpus == 0 && shared == 0 && milli == 0 && own_names == 0 && instances.empty();
  }
  [[nodiscard]] bool is_of_gpus_alone() const {
    return shared == 0 && milli == 0 && own_names == 0 && instances.empty();
  }
  friend bool operator==(const Demand&, const Demand&) = default;
};

// Adds what other pods ask for. `allowed` stays.
void add(Demand& to, const Demand& more);

// `requests` as in PodShape or Claim. Leaves `allowed` empty.
[[nodiscard]] Demand demand_of(const std::vector<ResourceAmount>& requests,
                               const ResourceNames& names);

}  // namespace sched::quota
