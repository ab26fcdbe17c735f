// What the mutated sources call: is this mutant the one that is switched on?
//
// GPU_SCHEDULER_MUTANT names it. 0 switches none on and notes which are reached (coverage.cc).
// Included before everything else by the compiler's command line, so it includes next to nothing.
#pragma once

#include <type_traits>

namespace mutants {

extern const int active;
void reached(int mutant);

[[nodiscard]] constexpr bool on(int mutant) {
  if (std::is_constant_evaluated()) return false;
  if (active == 0) reached(mutant);
  return active == mutant;
}

// What is added to a constant.
[[nodiscard]] constexpr int one(int mutant) { return on(mutant) ? 1 : 0; }

template <int kMutant, typename A, typename B>
[[nodiscard]] constexpr bool less(const A& a, const B& b) {
  if constexpr (requires { a <= b; }) {
    return on(kMutant) ? static_cast<bool>(a <= b) : static_cast<bool>(a < b);
  } else {
    return on(kMutant) ? !(b < a) : static_cast<bool>(a < b);
  }
}
template <int kMutant, typename A, typename B>
[[nodiscard]] constexpr bool less_or_equal(const A& a, const B& b) {
  return on(kMutant) ? static_cast<bool>(a < b) : static_cast<bool>(a <= b);
}
template <int kMutant, typename A, typename B>
[[nodiscard]] constexpr bool greater(const A& a, const B& b) {
  if constexpr (requires { a >= b; }) {
    return on(kMutant) ? static_cast<bool>(a >= b) : static_cast<bool>(a > b);
  } else {
    return on(kMutant) ? !(b > a) : static_cast<bool>(a > b);
  }
}
template <int kMutant, typename A, typename B>
[[nodiscard]] constexpr bool greater_or_equal(const A& a, const B& b) {
  return on(kMutant) ? static_cast<bool>(a > b) : static_cast<bool>(a >= b);
}
template <int kMutant, typename A, typename B>
[[nodiscard]] constexpr bool equal(const A& a, const B& b) {
  return static_cast<bool>(a == b) != on(kMutant);
}
template <int kMutant, typename A, typename B>
[[nodiscard]] constexpr bool not_equal(const A& a, const B& b) {
  return static_cast<bool>(a != b) != on(kMutant);
}

template <int kMutant, typename T>
[[nodiscard]] constexpr const T& min(const T& a, const T& b) {
  return (b < a) != on(kMutant) ? b : a;
}
template <int kMutant, typename T>
[[nodiscard]] constexpr const T& max(const T& a, const T& b) {
  return (a < b) != on(kMutant) ? b : a;
}

}  // namespace mutants
