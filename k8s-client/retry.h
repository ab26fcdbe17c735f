// When a request that may be repeated is sent again, and after how long.
//
// Only after 429 and 503, with which a server asks for a pause, and only a few times: it is better
// that a call fails with a reason than that it hangs. A 503 does not mean that nothing was done
// (error.h), so this is for requests that may be carried out twice. Pure: the caller waits.
#pragma once

#include "k8s-client/back_off.h"
#include "k8s-client/error.h"

#include <chrono>
#include <optional>

namespace k8s {

class RetryPolicy {
 public:
  static constexpr int kMaxAttempts = 5;

  explicit RetryPolicy(std::uint64_t seed)
      : back_off_(seed, {.first = std::chrono::milliseconds{200},
                         .limit = std::chrono::milliseconds{5'000},
                         .max_retry_after = std::chrono::seconds{10}}) {}

  // The wait before the next attempt, at least what the server asked for (Retry-After), up to ten
  // seconds; nullopt: the error is final. Call it once for each failed attempt.
  [[nodiscard]] std::optional<std::chrono::milliseconds> after(const Error& error,
                                                               BackOff::TimePoint now) {
    if (!error.asks_for_patience() || ++attempts_ >= kMaxAttempts) return std::nullopt;
    return back_off_.next(now, error.retry_after);
  }

 private:
  BackOff back_off_;
  int attempts_ = 0;
};

}  // namespace k8s
