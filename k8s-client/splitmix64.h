// Random numbers that are equal on every machine; those of the standard library are not.
//
// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA'14): eight
// bytes of state, and neighbouring seeds give unrelated numbers.
#pragma once

#include <cstdint>

namespace k8s {

inline constexpr std::uint64_t kSplitMixStep = 0x9e37'79b9'7f4a'7c15;

// A step and the finaliser: spreads `value` over all 64 bits.
[[nodiscard]] constexpr std::uint64_t mix64(std::uint64_t value) {
  value += kSplitMixStep;
  value = (value ^ (value >> 30)) * 0xbf58'476d'1ce4'e5b9;
  value = (value ^ (value >> 27)) * 0x94d0'49bb'1331'11eb;
  return value ^ (value >> 31);
}

class SplitMix64 {
 public:
  explicit constexpr SplitMix64(std::uint64_t seed) : state_(seed) {}

  constexpr std::uint64_t operator()() {
    const std::uint64_t drawn = mix64(state_);
    state_ += kSplitMixStep;
    return drawn;
  }

 private:
  std::uint64_t state_;
};

}  // namespace k8s
