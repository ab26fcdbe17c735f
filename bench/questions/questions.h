// What questions cost the engine's thread: those of a scrape of /metrics, of the page and of
// tenants, on a cluster that is as full as the load asks for.
#pragma once

#include "bench/output.h"

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

namespace bench::questions {

struct Options {
  std::vector<std::size_t> nodes = {1'000, 10'000, 100'000};
  std::size_t pods_per_node = 6;  // bound, on nodes with GPUs
  std::size_t waiting = 20'000;
  std::size_t rounds = 10;  // each question is asked so often; the shortest time counts
  Output output = Output::kTable;
};

// One question on a cluster of that size.
struct Figure {
  std::string question;
  std::size_t nodes = 0;
  double cpu_seconds = 0;
};

[[nodiscard]] std::vector<Figure> measure(std::size_t nodes, const Options& options);

// Returns the exit code.
int run(const Options& options, std::ostream& out);

}  // namespace bench::questions
