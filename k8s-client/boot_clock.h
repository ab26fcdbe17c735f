// Time that passes also while the machine is suspended: Linux' CLOCK_BOOTTIME.
//
// For promises between machines ("nobody else leads before then"): std::chrono::steady_clock stands
// still while a laptop or a node sleeps, the rest of the world does not. Neither can be set, both
// are slewed by NTP by at most 500 ppm. A virtual machine that its host pauses sees neither pass.
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
