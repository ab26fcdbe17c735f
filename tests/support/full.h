// How much of large inputs tests take: a part in `make test`, all of it in `make test-full`.
#pragma once

#include <cstddef>
#include <cstdlib>

namespace tests {

// 1 where GPU_SCHEDULER_TEST_FULL is set, otherwise n: which inputs of many are taken.
[[nodiscard]] inline std::size_t every(std::size_t n) {
  return std::getenv("GPU_SCHEDULER_TEST_FULL") != nullptr ? 1 : n;
}

}  // namespace tests
