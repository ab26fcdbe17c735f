// Runs one rule of MigPlacement over one load, on the engine that runs clusters.
//
// The GPUs are nodes of one GPU each, so that the engine chooses the GPU and the plugin the start
// on it. In each slot the expired instances leave, then the slot's request comes; a request that
// does not fit is dropped, and no instance is ever moved.
#pragma once

#include "bench/mig/load.h"
#include "k8s-client/error.h"
#include "scheduler/framework/registry.h"

#include <string_view>
#include <vector>

namespace bench::mig {

// A rule, and which of equally good GPUs is taken.
struct Policy {
  std::string_view name;
  std::string_view rule;  // of MigPlacement
  std::string_view tie_break = "first-node";
};
// The rules of bench/policies/mig_placement/rules.h, and first-fit on a random GPU.
[[nodiscard]] const std::vector<Policy>& policies();

// After the warm-up; shares in %.
struct Figures {
  double accepted = 0;         // of the requests
  double accepted_slices = 0;  // of the slices asked for
  double active_gpus = 0;      // GPUs with an instance, on average; of all
  double taken_slices = 0;     // on average; of all
};

// The same arguments give the same figures. The error is the registry's: an unknown rule.
[[nodiscard]] k8s::Result<Figures> run(const Policy& policy, const std::vector<Request>& requests,
                                       const Protocol& protocol, const sched::Registry& registry);

}  // namespace bench::mig
