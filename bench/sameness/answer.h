// bench answer: an engine that is told and asked by lines, so that two builds can be compared.
//
// Lines come in on one stream: those of a recording (scheduler/live/record/record.h), the header
// first, and questions. Every call of the recording is made; what a step answered in the recording
// is not read. A line goes out for each step and each question, at once, so that whoever asks may
// choose the next line by the answer:
//
//   {"at": …, "step": …}                                 →  the same with this engine's decision,
//   and
//                                                           "wakeup": engine.next_wakeup()
//   {"at": …, "ask": "explain", "pod": {…}}              →  {"at": …, "ask": "explain", "answer":
//   …}
//   {"at": …, "ask": "candidates", "pod": {…}}           →  the same of the best five nodes
//   {"at": …, "ask": "accounts"}                         →  quotas, pods that wait, figures of GPUs
//
// The lines of steps are still those of a recording: its reader leaves out what it does not know.
// sameness.py is what calls it.
#pragma once

#include "scheduler/framework/registry.h"

#include <iosfwd>

namespace bench::sameness {

// Ends with `in`. 0; 2 with a message on `complaints` where a line makes no sense.
[[nodiscard]] int answer(std::istream& in, const sched::Registry& registry, std::ostream& out,
                         std::ostream& complaints);

}  // namespace bench::sameness
