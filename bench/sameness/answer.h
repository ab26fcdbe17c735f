// bench answer: an engine that gets its events and questions as lines, so that two builds can be
// compared.
//
// Lines come in on one stream: those of a recording (scheduler/live/record/record.h), the header
// first, and questions. Every call of the recording is made; the recorded result of a step is not
// read. A line is written for each step and each question, at once, so that the caller may choose
// the next line by the answer:
//
//   {"at": …, "step": …}                        →  the same with this engine's decision, and
//                                                  "wakeup": engine.next_wakeup()
//   {"at": …, "ask": "explain", "pod": {…}}     →  {"at": …, "ask": "explain", "answer": …}
//   {"at": …, "ask": "candidates", "pod": {…}}  →  the same for the best five nodes
//   {"at": …, "ask": "accounts"}                →  quotas, waiting pods, figures of GPUs
//
// The lines of steps can still be read as a recording: its reader ignores unknown fields.
// sameness.py calls this.
#pragma once

#include "scheduler/framework/registry.h"

#include <iosfwd>

namespace bench::sameness {

// Ends with `in`. 0; 2 with a message on `complaints` if a line is invalid.
[[nodiscard]] int answer(std::istream& in, const sched::Registry& registry, std::ostream& out,
                         std::ostream& complaints);

}  // namespace bench::sameness
