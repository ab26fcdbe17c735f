// The MIG configurations that NVIDIA's mig-manager has for every node of a GPU model: the values of
// the node label nvidia.com/mig.config that need no additional configuration file.
//
//   all-1g.10gb     every GPU is partitioned into as many instances of the profile as it holds
//   all-balanced    two of the smallest, one of the next, one of 3g (where there is a 3g); not for
//                   GPUs that can only be halved
//
// all-disabled and all-enabled offer no instances and are left out, as are a site's own. Source:
// NVIDIA/mig-parted, config/ and pkg/mig/builder (balanced.go); names write "+me" as ".me".
#pragma once

#include "scheduler/gpu/mig/geometry.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sched::gpu::mig {

// Instances of one profile on each GPU.
struct InstanceCount {
  const Profile* profile = nullptr;
  std::int64_t per_gpu = 0;
  friend bool operator==(const InstanceCount&, const InstanceCount&) = default;
};

struct Configuration {
  std::string name;                      // "all-3g.40gb"
  std::vector<InstanceCount> instances;  // by the geometry's order of profiles
  // How many instances of that profile are on one GPU; 0: none.
  [[nodiscard]] std::int64_t per_gpu(const Profile& profile) const;
};

// The configurations of one model: one per profile, in the geometry's order, then all-balanced if
// the model has it.
[[nodiscard]] std::vector<Configuration> configurations(const Geometry& geometry);

}  // namespace sched::gpu::mig
