// Seeded draws that are equal on every machine. The draws and shuffles of the standard library
// differ between implementations, so both are done here.
//
// SplitMix64 is small and passes the statistical batteries; a workload draws fewer than 2^30
// numbers of its period of 2^64. Source: Steele, Lea, Flood, "Fast splittable pseudorandom number
// generators", OOPSLA'14.
#pragma once

#include "scheduler/base/random.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

namespace bench::replay {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  // 64 random bits.
  std::uint64_t bits() {
    const std::uint64_t drawn = sched::mix64(state_);
    state_ += 0x9e37'79b9'7f4a'7c15;
    return drawn;
  }

  // 0 … bound − 1; bound > 0.
  std::uint64_t below(std::uint64_t bound) { return sched::bounded(bits(), bound); }

  // Above 0 and at most 1, in steps of 2^-53.
  double unit() { return static_cast<double>((bits() >> 11U) + 1) * 0x1p-53; }

  // Of mean 1.
  double exponential() { return -std::log(unit()); }

  // Of mean 0 and deviation 1 (Box and Muller).
  double normal() {
    const double radius = std::sqrt(-2 * std::log(unit()));
    return radius * std::cos(2 * std::numbers::pi * unit());
  }

  // Fisher and Yates: every order is equally likely.
  template <typename T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t left = items.size(); left > 1; --left) {
      std::swap(items[left - 1], items[below(left)]);
    }
  }

 private:
  std::uint64_t state_;
};

}  // namespace bench::replay
