// Computes the decisions of a recording again, and compares.
//
// A recording (`gpu-scheduler --record`) has the configuration, every call of the engine and every
// answer. A new engine with the same calls must give the same answers: if it does not, the engine
// depends on something else, or its code has changed since. In this way an earlier decision can
// also be examined in a debugger.
//
// A recording that begins with a snapshot of objects, or has a gap, is computed again approximately
// from there on (approximate.h).
#pragma once

#include "scheduler/framework/registry.h"
#include "scheduler/live/record/record.h"

#include <atomic>
#include <iosfwd>
#include <string>

namespace bench::replay {

// A new engine with the recorded configuration.
[[nodiscard]] k8s::Result<sched::Engine> engine_of(const sched::live::RecordHeader& header,
                                                   const sched::Registry& registry);

// Prints a closing line, or the first difference. 0: all decisions are equal, or the comparison was
// approximate; 1: they differ; 2: the recording cannot be read. When `stop` becomes true it prints
// how far it came, and ends: 0.
[[nodiscard]] int rerun(const std::string& file, const sched::Registry& registry, std::ostream& out,
                        std::ostream& complaints, const std::atomic<bool>* stop = nullptr);

}  // namespace bench::replay
