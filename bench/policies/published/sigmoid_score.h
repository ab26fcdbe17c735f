// The published score of fragmentation gradient descent, int(100 · sigmoid(x)), in integers.
//
// sigmoid(x) ≥ s/100 exactly when x ≥ ln(s / (100 − s)), the log-odds of s per cent, so the score
// is a count of the log-odds that x reaches. Comparing integers instead of calling exp() gives the
// same score on every machine and compiler; and x as published is a difference of two sums of
// doubles; their last bits depend on the order of summing and can cost a point at x = 0.
#pragma once

#include <array>
#include <cstdint>

namespace bench {

// x that lead to a score of s or more, for x = amount / unit. 100 is reached by no x.
class SigmoidScore {
 public:
  // `unit` > 0.
  explicit SigmoidScore(std::uint64_t unit);

  // int(100 · sigmoid(amount / unit)): 0 … 99.
  [[nodiscard]] std::int64_t of(std::int64_t amount) const;

 private:
  std::array<std::int64_t, 99> least_;  // amount for a score of 1, 2, … 99
};

}  // namespace bench
