// The cost of a run: the seconds that this thread had a core, whatever else the machine did.
#pragma once

#include <ctime>

namespace bench::replay {

[[nodiscard]] inline double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

}  // namespace bench::replay
