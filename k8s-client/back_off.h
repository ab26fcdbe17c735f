// How long to wait after the n-th failure in a row: exponential, capped, jittered, seeded.
//
// The numbers are those of client-go's reflector (tools/cache/reflector.go): 0.8 s doubling up to
// 30 s, plus as much again at random, so that many clients of a server that comes back do not all
// return at once. A pause of two minutes between failures starts anew. Pure: time is passed in.
// Small enough for each of many thousand objects to have its own.
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
  // A server that asks for more patience (its Retry-After) does not get it: it may be a proxy that
  // is broken, and a caller must find out soon when it works again.
  std::chrono::seconds max_retry_after{30};
};

class BackOff {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  explicit BackOff(std::uint64_t seed, BackOffOptions options = {})
      : options_(options), random_(seed) {}

  // The wait after a failure at `now`, not below what the server asked for (its Retry-After), as
  // far as that goes.
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
