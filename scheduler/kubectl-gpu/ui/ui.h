// `kubectl gpu ui`: opens the way from a browser to the scheduler's page, and keeps it open.
#pragma once

#include "scheduler/kubectl-gpu/options.h"
#include "scheduler/kubectl-gpu/run.h"

namespace sched::kubectl {

// Prints the URL once the page can be read, and serves it until the process is ended. Returns only
// if it cannot: the exit code.
[[nodiscard]] int run_ui(const Options& options, const Terminal& terminal);

}  // namespace sched::kubectl
