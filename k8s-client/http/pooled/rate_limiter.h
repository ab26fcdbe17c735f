// A token bucket: a limited rate of requests in the long run, and a limited number at once after a
// pause.
#pragma once

#include <chrono>

namespace k8s::http {

class RateLimiter {
 public:
  using Clock = std::chrono::steady_clock;

  // `qps` 0 (or less): unlimited. The bucket starts full; `burst` below 1 counts as 1.
  RateLimiter(double qps, int burst, Clock::time_point now);

  // How long until a request may be sent; zero: now.
  [[nodiscard]] Clock::duration wait(Clock::time_point now);

  // A request is sent. Call it only when wait() is zero.
  void take();

 private:
  void refill(Clock::time_point now);

  double qps_;
  double burst_;
  double tokens_;
  Clock::time_point refilled_;
};

}  // namespace k8s::http
