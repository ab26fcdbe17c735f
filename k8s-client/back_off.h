// How long to wait after the n-th failure in a row: exponential, capped, jittered, seeded.
//
// The numbers are those of client-go's reflector (tools/cache/reflector.go): 0.8 s, doubling up to
// 30 s, plus a random part of the same size, so that many clients of a server that recovers do not
// all return at once. After two minutes without failure it starts again. Pure: time is an argument.
// Small enough that each of many thousand objects can have its own.
#pragma once

#include "k8s-client/splitmix64.h"

#include <chrono>
#include <cstdint>
#include <optional>

namespace k8s {

struct BackOffOptions {
  std::chrono::milliseconds first{800};
  std::chrono::milliseconds limit{30'000};  // before jitter
  int factor = 2;
  double jitter = 1.0;  // the wait is the step times 1 … 1 + jitter
  std::chrono::milliseconds reset_after{120'000};
  // A longer Retry-After is cut to this: it may come from a broken proxy, and a caller must notice
  // soon that the server works again.
  std::chrono::seconds max_retry_after{30};
};

class BackOff {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  explicit BackOff(std::uint64_t seed, BackOffOptions options = {})
      : options_(options), random_(seed) {}

  // The wait after a failure at `now`; at least what the server asked for (Retry-After), up to the
  // limit.
  [[nodiscard]] std::chrono::milliseconds next(
      TimePoint now, std::optional<std::chrono::seconds> retry_after = {});

  // The next failure counts as the first.
  void reset() { last_.reset(); }

  // Uniform in [0, 1), from the same seeded source.
  [[nodiscard]] double uniform();

 private:
  BackOffOptions options_;
  SplitMix64 random_;
  std::chrono::milliseconds step_{0};
  std::optional<TimePoint> last_;
};

}  // namespace k8s
