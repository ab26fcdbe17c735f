// bench-demo: watches what becomes of the example pods, for `make demo`. A program of its own,
// since the demo builds no more than it runs.
#include "bench/demo/demo.h"

#include <CLI/CLI.hpp>

int main(int argc, char** argv) {
  CLI::App app("Watches what becomes of the example pods, for `make demo`", "bench-demo");
  bench::DemoOptions options;
  app.add_option("--kubeconfig", options.kubeconfig, "The cluster")->required();
  app.add_option("--namespace", options.namespace_, "Where the pods are")->required();
  app.add_option("--record", options.record, "The scheduler's --record file")->required();
  app.add_option("--expect", options.expected, "What must be shown")->required();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return bench::run_demo(options);
}
