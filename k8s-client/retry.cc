#include "k8s-client/retry.h"

namespace k8s {

std::optional<std::chrono::milliseconds> RetryPolicy::after(const Error& error,
                                                            BackOff::TimePoint now) {
  if (!error.asks_for_patience() || ++attempts_ >= kMaxAttempts) return std::nullopt;
  return back_off_.next(now, error.retry_after);
}

}  // namespace k8s
