// The command line of `bench decide`.
#pragma once

#include "scheduler/framework/registry.h"

namespace CLI {
class App;
}

namespace bench::decide {

// Gives `command` its options; when it is run, it writes the outcome to `exit_code`. `registry`
// outlives the command.
void configure(CLI::App& command, const sched::Registry& registry, int& exit_code);

}  // namespace bench::decide
