// The outcome of the pods of a recording on its cluster, measured like a replay.
#pragma once

#include "bench/replay/recording/recorded_pods.h"
#include "bench/replay/recording/recording.h"
#include "bench/replay/result.h"
#include "scheduler/gpu/labels.h"

#include <string>
#include <vector>

namespace bench::replay {

// Where pods of a recording were placed: by number, the last node of a pod; empty: none.
using Placements = std::vector<std::string>;

struct RecordedOutcome {
  Result result;  // its policy is called "recorded"
  Placements placements;
};

// A pod counts as placed when the API server had accepted its bind. `site`: the labels that the
// recorded configuration has for GPU models.
[[nodiscard]] RecordedOutcome as_recorded(const Recording& recording, const RecordedPods& pods,
                                          const std::vector<double>& snapshots_at,
                                          const sched::gpu::SiteLabels& site = {});

}  // namespace bench::replay
