// kubectl-gpu, a plugin of kubectl: `kubectl gpu`. Reads, computes with the scheduler's engine, and
// writes nothing to the cluster.
#include "scheduler/base/version.h"
#include "scheduler/kubectl-gpu/run.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <iostream>

namespace {

sched::Time wall_clock() {
  return std::chrono::time_point_cast<sched::Time::duration>(std::chrono::system_clock::now());
}

}  // namespace

int main(int argc, char** argv) try {
  const bool is_terminal = isatty(STDOUT_FILENO) == 1;
  // https://no-color.org
  const bool colours = is_terminal && std::getenv("NO_COLOR") == nullptr;
  const sched::kubectl::Terminal terminal{
      .out = std::cout,
      .err = std::cerr,
      .style = {.colours = colours, .bars = is_terminal, .wide = false, .now = {}},
      .now = wall_clock,
      .end = std::_Exit};
  return sched::kubectl::run({argv + 1, argv + argc}, sched::kVersion, terminal);
} catch (const std::exception& error) {
  sched::kubectl::TextOut(std::cerr) << "kubectl gpu: " << error.what() << '\n';
  return sched::kubectl::kUnreadable;
}
