#include "k8s-client/http/pooled/rate_limiter.h"

#include <algorithm>

namespace k8s::http {

RateLimiter::RateLimiter(double qps, int burst, Clock::time_point now)
    : qps_(qps), burst_(std::max(burst, 1)), tokens_(burst_), refilled_(now) {}

void RateLimiter::refill(Clock::time_point now) {
  const std::chrono::duration<double> passed = now - refilled_;
  tokens_ = std::min(burst_, tokens_ + passed.count() * qps_);
  refilled_ = now;
}

RateLimiter::Clock::duration RateLimiter::wait(Clock::time_point now) {
  if (qps_ <= 0) return Clock::duration::zero();
  refill(now);
  if (tokens_ >= 1) return Clock::duration::zero();
  const std::chrono::duration<double> missing((1 - tokens_) / qps_);
  // Rounded up, so that this wait is enough; a rate near zero must not overflow.
  const auto longest = std::chrono::hours(1);
  if (missing > longest) return longest;
  return std::chrono::ceil<Clock::duration>(missing);
}

void RateLimiter::take() {
  if (qps_ > 0) tokens_ -= 1;
}

}  // namespace k8s::http
