// Time that also passes while the machine is suspended: Linux' CLOCK_BOOTTIME.
//
// For guarantees between machines ("no other process leads before then"): std::chrono::steady_clock
// stops while a laptop or a node sleeps, but other machines continue. Neither clock can be set; NTP
// slews both by at most 500 ppm. If the host pauses a virtual machine, both stop.
#pragma once

#include <chrono>
#include <ctime>

namespace k8s {

struct BootClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<BootClock>;
  static constexpr bool is_steady = true;

  [[nodiscard]] static time_point now() noexcept {
    timespec now{};
    clock_gettime(CLOCK_BOOTTIME, &now);  // cannot fail since Linux 2.6.39
    return time_point(std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec));
  }
};

}  // namespace k8s
