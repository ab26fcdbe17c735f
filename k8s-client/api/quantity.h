// Kubernetes' resource.Quantity as an exact number, and its two roundings to integers.
//
// A quantity is a decimal number with an optional suffix: binary (Ki … Ei), decimal (n, u, m, k …
// E) or an exponent (e3, E-2). As Kubernetes does, amounts are rounded up to 1n, away from zero.
// Source: k8s.io/apimachinery/pkg/api/resource/quantity.go.
#pragma once

#include "k8s-client/error.h"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace k8s {

class Quantity {
 public:
  constexpr Quantity() = default;

  // Whole units: Quantity::of(8) is "8".
  [[nodiscard]] static constexpr Quantity of(std::int64_t units);
  // Thousandths: Quantity::of_milli(1500) is "1500m".
  [[nodiscard]] static constexpr Quantity of_milli(std::int64_t thousandths);

  // Rejects what the API server rejects; the message has the offending text.
  [[nodiscard]] static Result<Quantity> parse(std::string_view text);

  // Units, fractions rounded up (away from zero); saturates at the limits of int64.
  [[nodiscard]] std::int64_t value() const;
  // Thousandths, with the same rounding and limits.
  [[nodiscard]] std::int64_t milli_value() const;

  [[nodiscard]] bool is_zero() const { return nanos_ == 0; }

  // The shortest plain decimal text that parses to the same number, such as "1500m" or "8".
  [[nodiscard]] std::string to_string() const;

  // Exact, so that rounding comes after adding; saturates at the limits.
  friend constexpr Quantity operator+(Quantity a, Quantity b);

  friend bool operator==(const Quantity&, const Quantity&) = default;
  friend constexpr bool operator<(Quantity a, Quantity b) { return a.nanos_ < b.nanos_; }

 private:
  __extension__ using Int128 = __int128;
  constexpr explicit Quantity(Int128 nanos) : nanos_(nanos) {}

  static constexpr Int128 kLimit = Int128{std::numeric_limits<std::int64_t>::max()} * 1'000'000'000;

  // Billionths of a unit. Saturates at ±(2^63 − 1) units, as upstream caps what it parses.
  Int128 nanos_ = 0;
};

constexpr Quantity Quantity::of(std::int64_t units) {
  const Int128 nanos = Int128{units} * 1'000'000'000;
  return Quantity(nanos < -kLimit ? -kLimit : nanos);
}
constexpr Quantity Quantity::of_milli(std::int64_t thousandths) {
  return Quantity(Int128{thousandths} * 1'000'000);
}

constexpr Quantity operator+(Quantity a, Quantity b) {
  const auto sum = a.nanos_ + b.nanos_;
  if (sum > Quantity::kLimit) return Quantity(Quantity::kLimit);
  if (sum < -Quantity::kLimit) return Quantity(-Quantity::kLimit);
  return Quantity(sum);
}

}  // namespace k8s
