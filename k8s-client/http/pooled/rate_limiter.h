// A token bucket: so many requests a second in the long run, so many at once after a pause.
#pragma once

#include <chrono>

namespace k8s::http {

class RateLimiter {
 public:
  using Clock = std::chrono::steady_clock;

  // `qps` 0 (or less): unlimited. The bucket starts full; `burst` below 1 counts as 1.
  RateLimiter(double qps, int burst, Clock::time_point now);

  // How long until a request may go; zero: now.
  [[nodiscard]] Clock::duration wait(Clock::time_point now);

  // A request goes. To be called only when wait() is zero.
  void take();

 private:
  void refill(Clock::time_point now);

  double qps_;
  double burst_;
  double tokens_;
  Clock::time_point refilled_;
};

}  // namespace k8s::http
