// What questions cost the engine's thread, as a program: it needs no client of an API server.
#include "bench/output.h"
#include "bench/questions/questions.h"

#include <CLI/CLI.hpp>

#include <iostream>

int main(int argc, char** argv) {
  CLI::App app("What questions cost the engine's thread, beside a decision", "bench-questions");
  bench::questions::Options options;
  app.add_option("--nodes", options.nodes, "Nodes, one run for each number")->capture_default_str();
  app.add_option("--waiting", options.waiting, "Pods that wait")->capture_default_str();
  app.add_option("--pods-per-node", options.pods_per_node, "Bound pods of a node with GPUs")
      ->capture_default_str();
  bench::add_output(app, options.output);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return bench::questions::run(options, std::cout);
}
