#include "k8s-client/back_off.h"

#include "tests/support/catch.h"

#include <vector>

namespace k8s {
namespace {

using std::chrono::milliseconds;
using TimePoint = BackOff::TimePoint;

TEST_CASE("waits double up to the limit, and start anew after a quiet time", "[watch]") {
  BackOff back_off(1, {.jitter = 0.0});
  TimePoint now{};
  const std::vector<int> want = {800, 1600, 3200, 6400, 12800, 25600, 30000, 30000};
  for (const int wait : want) {
    const milliseconds got = back_off.next(now);
    CHECK(got == milliseconds{wait});
    now += got;
  }
  now += milliseconds{119'999} - milliseconds{30'000};
  CHECK(back_off.next(now) == milliseconds{30'000});
  now += milliseconds{120'000};
  CHECK(back_off.next(now) == milliseconds{800});
  CHECK(back_off.next(now) == milliseconds{1600});
  back_off.reset();
  CHECK(back_off.next(now) == milliseconds{800});
}

TEST_CASE("jitter at most doubles a wait, and comes from the seed", "[watch]") {
  std::vector<milliseconds> first;
  std::vector<milliseconds> again;
  std::vector<milliseconds> other;
  for (auto [seed, waits] : {std::pair{1, &first}, {1, &again}, {2, &other}}) {
    BackOff back_off(static_cast<std::uint64_t>(seed));
    for (int i = 0; i < 20; ++i) waits->push_back(back_off.next(TimePoint{}));
  }
  CHECK(first == again);
  CHECK(first != other);
  milliseconds step{800};
  for (const milliseconds wait : first) {
    CHECK(wait >= step);
    CHECK(wait < 2 * step);
    step = std::min(2 * step, milliseconds{30'000});
  }
}

TEST_CASE("a server gets the patience that it asks for, up to a limit", "[watch]") {
  BackOff back_off(1, {.jitter = 0.0, .max_retry_after = std::chrono::seconds{20}});
  CHECK(back_off.next({}, std::chrono::seconds{0}) == milliseconds{800});
  CHECK(back_off.next({}, std::chrono::seconds{20}) == milliseconds{20'000});
  CHECK(back_off.next({}, std::chrono::seconds{300}) == milliseconds{20'000});
  for (int i = 0; i < 3; ++i) CHECK(back_off.next({}) < milliseconds{30'000});
  CHECK(back_off.next({}, std::chrono::seconds{300}) == milliseconds{30'000});  // its own
}

}  // namespace
}  // namespace k8s
