// The subcommand `bench replay`.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace bench::replay {

// Adds it; it writes its outcome to `exit_code`. `command_line` is what was typed, for the report.
void add_command(CLI::App& app, const std::string& command_line, int& exit_code);

}  // namespace bench::replay
