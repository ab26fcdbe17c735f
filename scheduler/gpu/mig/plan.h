// Which nodes should be cut how, so that pods that wait for MIG instances fit.
//
// Greedy: of all (node, configuration) the one that places the most pods, of several the one with
// the fewest GPUs to cut, then by the nodes' order and the configurations'; its pods are taken off
// the list, and again, until nothing places any. That is not the best plan there is (finding that
// is a set cover), but each step of it holds by itself: who carries out only the first has
// placed the most pods that one node can. What fits where is the caller's to say, so a plan never
// promises what the scheduler would not do.
//
// Nodes on which GPU pods run come into question for what idle nodes do not place: of these the one
// with the most pods placed for each that has to go, and one only, since that is for people to
// decide. It places more than have to go.
#pragma once

#include "scheduler/gpu/mig/configurations.h"
#include "scheduler/gpu/mig/geometry.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace sched::gpu::mig {

// A node whose GPUs could be cut anew.
struct Candidate {
  const Geometry* geometry = nullptr;  // never null: of all of its GPUs
  std::int64_t gpus = 0;
  std::string configuration;  // as it is; not chosen again
  bool one_profile = false;   // its GPUs must all be cut into one and the same (strategy single)
  std::size_t occupants = 0;  // pods that hold its GPUs, and would have to go before
};

// One step of a plan: indices of a node and of the pods that it would take, ascending.
struct Repartition {
  std::size_t node = 0;
  Configuration to;
  std::vector<std::size_t> pods;
};

// Which of the `waiting` pods (ascending) the node would take, were it cut so and were they put
// there in this order.
using Trial = std::function<std::vector<std::size_t>(std::size_t node, const Configuration& to,
                                                     const std::vector<std::size_t>& waiting)>;

struct PlanLimits {
  std::size_t repartitions = 8;
  std::size_t trials = 2'000;
};

// `wanted`: the profiles that pods wait for, as resource names; configurations without any of them
// are not tried. At most limits.trials calls of `fits`; what was found until then is returned.
[[nodiscard]] std::vector<Repartition> plan(const std::vector<Candidate>& nodes,
                                            const std::vector<std::string>& wanted,
                                            std::size_t pods, const Trial& fits,
                                            PlanLimits limits = {});

}  // namespace sched::gpu::mig
