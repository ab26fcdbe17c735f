#include "k8s-client/http/pooled/rate_limiter.h"

#include "tests/support/catch.h"

using k8s::http::RateLimiter;
using namespace std::chrono_literals;

namespace {

constexpr RateLimiter::Clock::time_point kStart{1000s};

// How many may go at `now`.
int drain(RateLimiter& limiter, RateLimiter::Clock::time_point now, int at_most = 1000) {
  int gone = 0;
  while (gone < at_most && limiter.wait(now) == 0s) {
    limiter.take();
    ++gone;
  }
  return gone;
}

}  // namespace

TEST_CASE("rate limiter: starts with a burst, then keeps the rate") {
  RateLimiter limiter(10, 5, kStart);
  CHECK(drain(limiter, kStart) == 5);
  CHECK(limiter.wait(kStart) == 100ms);
  CHECK(drain(limiter, kStart + 99ms) == 0);
  CHECK(drain(limiter, kStart + 100ms) == 1);
  CHECK(drain(limiter, kStart + 400ms) == 3);
}

TEST_CASE("rate limiter: a pause refills no more than a burst") {
  RateLimiter limiter(10, 5, kStart);
  CHECK(drain(limiter, kStart) == 5);
  CHECK(drain(limiter, kStart + 1h) == 5);
}

TEST_CASE("rate limiter: waiting as long as it says is enough") {
  RateLimiter limiter(3, 1, kStart);
  auto now = kStart;
  for (int i = 0; i < 100; ++i) {
    now += limiter.wait(now);
    REQUIRE(limiter.wait(now) == 0s);
    limiter.take();
  }
  CHECK(now - kStart >= 32s);
  CHECK(now - kStart <= 34s);
}

TEST_CASE("rate limiter: zero is no limit, and a burst below one is one") {
  RateLimiter unlimited(0, 0, kStart);
  CHECK(drain(unlimited, kStart) == 1000);
  RateLimiter single(1, 0, kStart);
  CHECK(drain(single, kStart) == 1);
  RateLimiter slow(1e-12, 1, kStart);
  CHECK(drain(slow, kStart) == 1);
  CHECK(slow.wait(kStart) == 1h);
}
