#include "k8s-client/boot_clock.h"

#include <ctime>

namespace k8s {

BootClock::time_point BootClock::now() noexcept {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);  // cannot fail since Linux 2.6.39
  return time_point(std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec));
}

}  // namespace k8s
