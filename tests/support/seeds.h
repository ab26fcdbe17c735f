// The seeds of tests of random events: always the same few, more of them in `make test-full`, and
// one more where the environment names it (GPU_SCHEDULER_TEST_SEED, which `make test-full` draws
// and prints).
#pragma once

#include "tests/support/full.h"

#include <cstdlib>
#include <vector>

namespace tests {

// 1 … `brief`, or `full` in `make test-full`, and the one of the environment.
[[nodiscard]] inline std::vector<unsigned> seeds(unsigned brief, unsigned full) {
  std::vector<unsigned> all;
  for (unsigned seed = 1; seed <= amount(brief, full); ++seed) all.push_back(seed);
  const char* drawn = std::getenv("GPU_SCHEDULER_TEST_SEED");
  if (drawn != nullptr && *drawn != '\0') {
    all.push_back(static_cast<unsigned>(std::strtoul(drawn, nullptr, 10)));
  }
  return all;
}

}  // namespace tests
