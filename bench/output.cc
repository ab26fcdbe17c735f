#include "bench/output.h"

#include <CLI/CLI.hpp>
#include <unistd.h>

#include <string>

namespace bench {

void add_output(CLI::App& command, Output& output) {
  output = isatty(STDOUT_FILENO) == 1 ? Output::kTable : Output::kJson;
  command
      .add_option_function<std::string>(
          "-o,--output",
          [&output](const std::string& format) {
            output = format == "table" ? Output::kTable : Output::kJson;
          },
          "table or json; without it a table on a terminal, JSON elsewhere")
      ->check(CLI::IsMember({"table", "json"}))
      ->type_name("FORMAT");
}

}  // namespace bench
