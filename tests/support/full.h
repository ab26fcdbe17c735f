// How much tests take of large inputs and of random ones: a part in `make test`, all of it in
// `make test-full`.
#pragma once

#include <cstdlib>

namespace tests {

[[nodiscard]] inline bool is_full() { return std::getenv("GPU_SCHEDULER_TEST_FULL") != nullptr; }

// 1 in `make test-full`, otherwise n: which inputs of many are taken.
[[nodiscard]] inline unsigned every(unsigned n) { return is_full() ? 1 : n; }

// How many rounds, seeds or questions are tried.
[[nodiscard]] inline unsigned amount(unsigned brief, unsigned full) {
  return is_full() ? full : brief;
}

}  // namespace tests
