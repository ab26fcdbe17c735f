#include "k8s-client/back_off.h"

#include <algorithm>

namespace k8s {

std::chrono::milliseconds BackOff::next(TimePoint now,
                                        std::optional<std::chrono::seconds> retry_after) {
  const bool first = !last_ || now - *last_ >= options_.reset_after;
  step_ = first ? options_.first : std::min(step_ * options_.factor, options_.limit);
  last_ = now;
  const double jittered = static_cast<double>(step_.count()) * (1 + options_.jitter * uniform());
  const std::chrono::milliseconds own(static_cast<std::int64_t>(jittered));
  if (!retry_after) return own;
  return std::max<std::chrono::milliseconds>(own, std::min(*retry_after, options_.max_retry_after));
}

double BackOff::uniform() {
  constexpr double kTwoToMinus53 = 1.0 / 9007199254740992.0;
  return static_cast<double>(random_() >> 11) * kTwoToMinus53;
}

}  // namespace k8s
