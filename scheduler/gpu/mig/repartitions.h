// Which nodes should be partitioned how, so that waiting pods that ask for MIG instances fit.
//
// Greedy: of all (node, configuration), the one that places the most pods; if several, the one with
// the fewest GPUs to repartition, then by the order of nodes and configurations. Its pods are
// removed from the list, and the search is repeated until nothing places a pod. These are not the
// best possible steps (to find those is a set cover problem), but each is good by itself: the first
// step alone places the most pods that one node can take. The caller decides what fits where, so no
// step promises what the scheduler would not do.
//
// Nodes with GPU pods are considered for pods that idle nodes do not place: only the one node with
// the most pods placed for each pod that must end, because an administrator must decide that. It
// places more pods than must end.
#pragma once

#include "scheduler/gpu/mig/configurations.h"
#include "scheduler/gpu/mig/geometry.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace sched::gpu::mig {

// A node with GPUs that could be repartitioned.
struct Candidate {
  const Geometry* geometry = nullptr;  // never null: of all GPUs of the node
  std::int64_t gpus = 0;
  std::string configuration;  // the present one; not chosen again
  bool one_profile = false;   // all its GPUs must be partitioned into one profile (strategy single)
  std::size_t occupants = 0;  // pods that hold its GPUs, and must end first
};

// One step: indices of a node and of the pods that it would take, ascending.
struct Repartition {
  std::size_t node = 0;
  Configuration to;
  std::vector<std::size_t> pods;
};

// Which of the `waiting` pods (ascending) the node would take if it were partitioned so and the
// pods were put there in this order, after the steps `before`.
using FitsIfPartitioned = std::function<std::vector<std::size_t>(
    std::size_t node, const Configuration& to, const std::vector<std::size_t>& waiting,
    const std::vector<Repartition>& before)>;

struct RepartitionLimits {
  std::size_t repartitions = 8;
  std::size_t trials = 2'000;
};

// `wanted`: the profiles that pods wait for, as resource names; configurations without any of them
// are not tried. Calls `fits` at most limits.trials times; then what was found is returned.
[[nodiscard]] std::vector<Repartition> repartitions(const std::vector<Candidate>& nodes,
                                                    const std::vector<std::string>& wanted,
                                                    std::size_t pods, const FitsIfPartitioned& fits,
                                                    RepartitionLimits limits = {});

}  // namespace sched::gpu::mig
