// How much of the time work of one sort may take. What is not used is saved up, but no more than
// half a second's worth, so that no great pause is followed by a long burst.
#pragma once

#include "scheduler/base/types.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace sched {

class Allowance {
 public:
  // In whatever unit the work is counted.
  explicit constexpr Allowance(std::int64_t per_second)
      : per_second_(per_second), left_(per_second / 2) {}

  // Whether more of it may be begun. A piece of work that was begun may take more than is left.
  [[nodiscard]] bool any_left(Time now) {
    using std::chrono::milliseconds;
    constexpr milliseconds kLongest{10'000};  // more than is needed to save up all
    const auto passed =
        std::chrono::floor<milliseconds>(std::min<Time::duration>(now - at_, kLongest));
    left_ = std::min(per_second_ / 2, left_ + passed.count() * (per_second_ / 1'000));
    at_ = now - at_ > kLongest ? now : at_ + passed;
    return left_ > 0;
  }
  // From when on any_left() is true, if nothing more is spent; may be past.
  [[nodiscard]] Time next() const {
    if (left_ > 0) return at_;
    return at_ + std::chrono::milliseconds(1 - left_ / (per_second_ / 1'000));
  }
  // No debt is larger than what a few seconds bring.
  void spend(std::size_t work) {
    left_ = std::max(left_ - static_cast<std::int64_t>(work), -4 * per_second_);
  }

 private:
  std::int64_t per_second_;
  std::int64_t left_;
  Time at_{};
};

}  // namespace sched
