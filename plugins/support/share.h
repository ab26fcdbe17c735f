// Shares of a capacity as scores.
#pragma once

#include "scheduler/framework/plugin.h"

#include <cstdint>

namespace plugins {

// part / whole in units of kMaxScore, rounded down; `whole` is above zero. Exact even if part · 100
// does not fit into 64 bits.
[[nodiscard]] inline std::int64_t percentage(std::int64_t part, std::int64_t whole) {
  __extension__ using Wide = __int128;
  return static_cast<std::int64_t>(Wide{part} * sched::kMaxScore / whole);
}

}  // namespace plugins
