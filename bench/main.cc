// bench: measures the scheduler, and compares it with others. A subcommand for each thing to
// measure.
#include "bench/verdicts/verdicts.h"

#include <CLI/CLI.hpp>

#include <iostream>

namespace {

// Each adds its subcommand, which leaves its outcome in `exit_code`.

void add_verdicts(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<bench::verdicts::Options>();
  CLI::App* command = app.add_subcommand(
      "verdicts",
      "What the engine answers to scheduling cases; exits 1 where the answers given with "
      "them differ");
  command->add_option("CASES", options->files, "Case files, .jsonl or .jsonl.gz")->required();
  command->add_flag("-q,--quiet", options->quiet, "Only differences and the closing line");
  command->callback(
      [options, &exit_code] { exit_code = bench::verdicts::run(*options, std::cout, std::cerr); });
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Measures gpu-scheduler, and compares it with kube-scheduler", "bench");
  app.require_subcommand(1);
  int exit_code = 0;
  add_verdicts(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return exit_code;
}
