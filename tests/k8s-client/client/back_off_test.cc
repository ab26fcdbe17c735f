#include "k8s-client/back_off.h"

#include "k8s-client/splitmix64.h"
#include "tests/support/catch.h"

#include <cstdint>
#include <vector>

namespace k8s {
namespace {

using std::chrono::milliseconds;
using TimePoint = BackOff::TimePoint;

TEST_CASE("SplitMix64 draws the numbers that its authors' program draws") {
  std::uint64_t seed = 0;  // not a constant: the compiler is not to draw them
  SplitMix64 random(seed);
  for (const std::uint64_t want :
       {0xe220'a839'7b1d'cdafU, 0x6e78'9e6a'a1b9'65f4U, 0x06c4'5d18'8009'454fU}) {
    CHECK(random() == want);
  }
}

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
