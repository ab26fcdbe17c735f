// The state of a run at one moment: steps are made of it.
#pragma once

#include "scheduler/cluster/fragmentation.h"

#include <cstddef>
#include <cstdint>

namespace bench::replay {

struct Levels {
  std::size_t arrivals = 0;            // pods so far
  std::size_t waiting = 0;             // pods, now
  std::int64_t waiting_gpu = 0;        // that these ask for, thousandths of a GPU
  std::int64_t asked = 0;              // so far, thousandths of a GPU
  std::int64_t refused = 0;            // so far
  std::int64_t capacity = 0;           // now
  std::int64_t allocated = 0;          // now
  sched::FreeByCause free_by_cause{};  // now, × weight
  std::int64_t weight = 1;
};

// a of b in percent; 0 if b is 0.
[[nodiscard]] inline double percent(double a, double b) { return b > 0 ? 100 * a / b : 0; }
[[nodiscard]] inline double percent(std::int64_t a, std::int64_t b) {
  return percent(static_cast<double>(a), static_cast<double>(b));
}

}  // namespace bench::replay
