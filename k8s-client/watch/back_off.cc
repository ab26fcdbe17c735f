#include "k8s-client/watch/back_off.h"

#include <algorithm>

namespace k8s {

std::chrono::milliseconds BackOff::next(TimePoint now,
                                        std::optional<std::chrono::seconds> retry_after) {
  const bool first = !last_ || now - *last_ >= options_.reset_after;
  step_ = first ? options_.first : std::min(step_ * options_.factor, options_.limit);
  last_ = now;
  const double jittered = static_cast<double>(step_.count()) * (1 + options_.jitter * uniform());
  const std::chrono::milliseconds own(static_cast<std::int64_t>(jittered));
  return retry_after ? std::max<std::chrono::milliseconds>(own, *retry_after) : own;
}

// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators): eight bytes of
// state, and neighbouring seeds give unrelated numbers. The distributions of the standard library
// differ between implementations; this does not.
double BackOff::uniform() {
  random_ += 0x9e3779b97f4a7c15;
  std::uint64_t mixed = random_;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  mixed ^= mixed >> 31;
  constexpr double kTwoToMinus53 = 1.0 / 9007199254740992.0;
  return static_cast<double>(mixed >> 11) * kTwoToMinus53;
}

}  // namespace k8s
