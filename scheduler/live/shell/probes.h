// What /livez and /readyz look at.
//
// The event loop answers both, so an event loop that hangs answers neither. It also checks the
// engine's thread: a process with an engine that hangs would renew its lease and schedule nothing,
// and another process can lead only after it has ended.
//
// How long is too long? One event or one decision, which is what the heartbeat measures, took at
// most 0.11 s with 100,000 nodes (bench decide: the first look at a shape on all nodes). A question
// looks at each node once as well, and writes the result as text. The bound is a thousand times
// that: a machine that starves the scheduler, or a build with sanitizers, is no reason to restart
// it, which would only add a start to the load. The probes of the Deployment add half a minute
// (three failures, ten seconds apart).
#pragma once

#include "scheduler/server/endpoints.h"

#include <chrono>

namespace sched::live {

inline constexpr std::chrono::minutes kEngineHangsAfter{2};

// A leader decides nothing before it has read which quotas there were (writes/quota_memory.h). That
// takes a moment, and half a minute where the right to read them is missing.
inline constexpr std::chrono::minutes kReadsQuotasWithin{1};

// `working_for`: EngineThread's.
[[nodiscard]] server::Check engine_check(std::chrono::nanoseconds working_for);
// `reading_for`: how long this leader has read them so far; zero: it does not, or has read them.
[[nodiscard]] server::Check remembered_quotas_check(std::chrono::nanoseconds reading_for);

}  // namespace sched::live
