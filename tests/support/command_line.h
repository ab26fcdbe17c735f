// A command of bench that is given arguments which it should refuse.
#pragma once

#include <CLI/CLI.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace tests {

// What is wrong with the arguments; "" and the command has run: nothing.
[[nodiscard]] inline std::string complaint_of(CLI::App& app, std::vector<std::string> arguments) {
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    return error.what();
  }
  return "";
}

}  // namespace tests
