// How many trials a second: "where would this pod go if those pods were gone", the question that
// preemption, reclaim and gangs will ask by the thousand.
//
// A cluster as full as the load says; each trial takes one to four of the least important pods of
// one node away and asks for the best of all nodes, and how many take the pod. The pod's shape is
// up to date, as it is when many trials are about one pod.
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

// Of the scenario its nodes, shapes, load, seed, and `pods` trials count.
[[nodiscard]] TrialFigures run_trials(std::vector<sched::Profile> profiles,
                                      sched::EngineOptions options, const Scenario& scenario);

}  // namespace bench::decide
