// Which mutants were reached, where GPU_SCHEDULER_MUTANT is 0.
#pragma once

#include <cstddef>
#include <vector>

namespace mutants {

inline constexpr std::size_t kMostMutants = 100'000;

// By number; not zero: reached since it was set to zero last. Several threads may write at a time.
[[nodiscard]] std::vector<unsigned char>& reached_ones();

}  // namespace mutants
