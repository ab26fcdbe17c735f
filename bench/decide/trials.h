// How many trials a second: "where would this pod go if those pods were gone". Preemption, reclaim
// and gangs will ask this by the thousand.
//
// A cluster as full as the load asks for. Each trial takes one to four of the least important pods
// of one node away and asks for the best of all nodes, and how many take the pod. The pod's shape
// is up to date, as it is if many trials are about one pod.
#pragma once

#include "bench/decide/churn.h"
#include "scheduler/engine/options.h"
#include "scheduler/framework/profile.h"

#include <cstddef>
#include <vector>

namespace bench::decide {

struct TrialFigures {
  std::size_t pods = 0;  // on nodes
  std::size_t trials = 0;
  std::size_t helped = 0;  // trials in which more nodes took the pod than without
  double cpu_seconds = 0;  // of the trials
};

// Used of the scenario: its nodes, shapes, load, seed, and `pods` as the number of trials.
[[nodiscard]] TrialFigures run_trials(std::vector<sched::Profile> profiles,
                                      sched::EngineOptions options, const Scenario& scenario);

}  // namespace bench::decide
