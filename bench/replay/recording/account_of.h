// What the accounts of a recording have in common, whatever decides in them.
#pragma once

#include "bench/replay/account/account.h"
#include "bench/replay/account/typical_pods.h"
#include "bench/replay/recording/recorded_pods.h"
#include "bench/replay/recording/recording.h"

#include <chrono>
#include <vector>

namespace bench::replay {

// Time since the recording began.
[[nodiscard]] inline Moment moment_of(sched::Time at, sched::Time begin) {
  return std::chrono::floor<Moment>(at - begin);
}

[[nodiscard]] inline Account account_of(const Recording& recording, const RecordedPods& pods,
                                        const std::vector<double>& snapshots_at) {
  const sched::Time end =
      recording.calls.empty() ? recording.begin() : time_of(recording.calls.back());
  return Account({.over_time = true,
                  .measure_from = Moment{0},
                  .horizon = moment_of(end, recording.begin()),
                  .snapshots_at = snapshots_at,
                  .typical_pods = covering(pods.kinds())});
}

}  // namespace bench::replay
