// The subcommand `bench replay`.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace bench::replay {

// Adds it; it writes its outcome to `exit_code`. `typed` are the words of the command line: the
// report has those of them that its content depends on.
void add_command(CLI::App& app, const std::vector<std::string>& typed, int& exit_code);

// The command that gives the same results: without --out, --jobs and --share.
[[nodiscard]] std::string same_results(const std::vector<std::string>& typed);

}  // namespace bench::replay
