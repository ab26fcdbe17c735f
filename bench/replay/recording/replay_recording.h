// bench replay --recording: a recorded live run computed again, or decided by other policies.
#pragma once

#include "bench/replay/replay.h"
#include "scheduler/framework/registry.h"

#include <atomic>
#include <iosfwd>
#include <string>

namespace bench::replay {

// Without policies: rerun(). With policies: what they would have decided (with_policy.h), beside
// what was recorded, with the outputs of a replay. Exit codes as for replay().
[[nodiscard]] int replay_recording(const std::string& file, const ReplayOptions& options,
                                   const sched::Registry& registry, std::ostream& out,
                                   std::ostream& complaints, const std::atomic<bool>& stop);

}  // namespace bench::replay
