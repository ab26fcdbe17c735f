// What a search for victims costs (docs/preemption.md).
//
// On each GPU runs a pod, of low priority except on one GPU of each node. Pods of high priority
// come, are decided on, and are gone before anybody is deleted: so each search is made on the same
// cluster. Or all are of high priority and on GPUs that their quota has borrowed, except one of
// each node, and pods of low priority come that are guaranteed these GPUs.
#pragma once

#include "scheduler/engine/options.h"
#include "scheduler/framework/profile.h"

#include <array>
#include <cstddef>
#include <vector>

namespace bench::decide {

struct Preemptor {
  const char* name;
  const char* what;
};
inline constexpr std::array<Preemptor, 5> kPreemptors{{
    {"evicts", "evict three of seven pods"},
    {"in-vain", "would need more than may go, everywhere"},
    {"spread", "evict, spread over zones"},
    {"apart", "evict, on a node without pods alike"},
    {"reclaims", "take back three of seven lent GPUs"},
}};

struct PreemptingFigures {
  std::size_t evicted = 0;  // pods that were to go
  std::size_t found = 0;    // pods for which some were to go
  double cpu_seconds = 0;   // of the decisions, most of which are searches
  double longest_seconds = 0;
};

// `preemptor`: index in kPreemptors; `pods` of them come. The first profile, named kSchedulerName,
// gets preemption.
[[nodiscard]] PreemptingFigures run_preempting(std::vector<sched::Profile> profiles,
                                               sched::EngineOptions options, std::size_t preemptor,
                                               std::size_t nodes, std::size_t pods);

}  // namespace bench::decide
