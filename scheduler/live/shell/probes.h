// What /livez and /readyz look at.
//
// The event loop answers both, so one that hangs answers neither. The engine's thread is looked at
// from there: a process whose engine hangs would go on to renew its lease and schedule nothing,
// and only its end lets another one lead.
//
// How long is too long? One event or one decision, which is what the heartbeat measures, took at
// most 0.11 s with 100,000 nodes (bench decide: the first look at a shape on all nodes). A question
// looks at each node once as well, and words what it sees. The bound is a thousand times that: a
// machine that starves the scheduler, or a build with sanitizers, is no reason to restart it, which
// would only add a start to the load. The probes of the Deployment add half a minute (three
// failures, ten seconds apart).
#pragma once

#include "scheduler/server/endpoints.h"

#include <chrono>

namespace sched::live {

inline constexpr std::chrono::minutes kEngineHangsAfter{2};

// `working_for`: EngineThread's.
[[nodiscard]] server::Check engine_check(std::chrono::nanoseconds working_for);

}  // namespace sched::live
