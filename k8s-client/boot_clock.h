// Time that also passes while the machine is suspended: Linux' CLOCK_BOOTTIME.
//
// For guarantees between machines ("no other process leads before then"): std::chrono::steady_clock
// stops while a laptop or a node sleeps, but other machines continue. Neither clock can be set; NTP
// slews both by at most 500 ppm. If the host pauses a virtual machine, both stop.
#pragma once

#include <chrono>

namespace k8s {

struct BootClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<BootClock>;
  static constexpr bool is_steady = true;

  [[nodiscard]] static time_point now() noexcept;
};

}  // namespace k8s
