#include "bench/decide/meter.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

namespace bench::decide {

void Meter::apply(sched::Event event, sched::Time now) { engine_.apply(std::move(event), now); }

std::optional<sched::Decision> Meter::decide(sched::Time now) {
  const auto start = std::chrono::steady_clock::now();
  std::optional<sched::Decision> first = engine_.step(now);
  if (first) {
    while (engine_.step(now)) {
    }
  }
  const auto took = std::chrono::steady_clock::now() - start;
  constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
  decisions_.push_back(static_cast<std::uint32_t>(std::min<std::int64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(took).count(), kMost)));
  return first;
}

}  // namespace bench::decide
