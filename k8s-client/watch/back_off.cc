#include "k8s-client/watch/back_off.h"

#include <algorithm>

namespace k8s {

std::chrono::milliseconds BackOff::next(TimePoint now) {
  const bool first = !last_ || now - *last_ >= options_.reset_after;
  step_ = first ? options_.first : std::min(step_ * options_.factor, options_.limit);
  last_ = now;
  const double jittered = static_cast<double>(step_.count()) * (1 + options_.jitter * uniform());
  return std::chrono::milliseconds(static_cast<std::int64_t>(jittered));
}

double BackOff::uniform() {
  // The distributions of the standard library differ between implementations; this does not.
  constexpr double kTwoToMinus53 = 1.0 / 9007199254740992.0;
  return static_cast<double>(random_() >> 11) * kTwoToMinus53;
}

}  // namespace k8s
