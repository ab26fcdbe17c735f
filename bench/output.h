// How a subcommand prints its results: a table for people, JSON for programs.
#pragma once

#include <cstdint>

namespace CLI {
class App;
}

namespace bench {

enum class Output : std::uint8_t { kTable, kJson };

// Gives `command` the flag -o. Without the flag, `output` is a table on a terminal, and JSON in a
// pipe or a file. `output` outlives the command.
void add_output(CLI::App& command, Output& output);

}  // namespace bench
