// The typical pods M of a workload, chosen as by Weng et al., "Beware of Fragmentation" (ATC'23):
// the most frequent kinds of pods that together cover a part of it.
#pragma once

#include "scheduler/framework/cluster_context.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plugins {

struct TypicalPods {
  std::vector<sched::TypicalPod> pods;  // the first of the context's
  std::uint64_t covered = 0;            // the sum of their counts
};

// The kinds of `context` in its order, one by one until at least `percent` of the pods are covered.
[[nodiscard]] TypicalPods typical_pods(const sched::ClusterContext& context, std::int64_t percent);

// The models that pods of these kinds name, sorted, and before them "", which stands for all
// others.
[[nodiscard]] std::vector<std::string> models_apart(const std::vector<sched::TypicalPod>& pods);

// Whether pods of that kind may run on nodes with this model, one of models_apart().
[[nodiscard]] bool may_run_on(const sched::TypicalPod& pod, std::string_view model);

}  // namespace plugins
