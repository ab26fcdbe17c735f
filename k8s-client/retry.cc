#include "k8s-client/retry.h"

#include <algorithm>

namespace k8s {

std::optional<std::chrono::milliseconds> RetryPolicy::after(const Error& error,
                                                            BackOff::TimePoint now) {
  const bool refused_for_now =
      error.kind == ErrorKind::kStatus && (error.http_status == 429 || error.http_status == 503);
  if (!refused_for_now || ++attempts_ >= kMaxAttempts) return std::nullopt;
  const std::chrono::milliseconds own = back_off_.next(now);
  return error.retry_after ? std::max<std::chrono::milliseconds>(own, *error.retry_after) : own;
}

}  // namespace k8s
