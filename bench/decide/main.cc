// `bench decide` as a separate program: it needs no client of an API server, so it builds in a
// fraction of the time. Instructions are counted with it.
#include "bench/decide/command.h"
#include "plugins/registry.h"

#include <CLI/CLI.hpp>

int main(int argc, char** argv) {
  CLI::App app("How fast the engine decides: see `bench decide --help`", "bench-decide");
  int exit_code = 0;
  bench::decide::configure(app, plugins::registry(), exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return exit_code;
}
