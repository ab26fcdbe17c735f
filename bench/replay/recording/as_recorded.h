// What became of the pods of a recording on the cluster it was made on, measured like a replay.
#pragma once

#include "bench/replay/recording/recorded_pods.h"
#include "bench/replay/recording/recording.h"
#include "bench/replay/run/result.h"

#include <string>
#include <vector>

namespace bench::replay {

// Where pods of a recording ended up: by number, the node a pod was placed on last; empty: none.
using Placements = std::vector<std::string>;

struct RecordedOutcome {
  Result result;  // its policy is called "recorded"
  Placements placements;
};

// A pod counts as placed when the API server had taken its bind.
[[nodiscard]] RecordedOutcome as_recorded(const Recording& recording, const RecordedPods& pods,
                                          const std::vector<double>& snapshots_at);

}  // namespace bench::replay
