// Random numbers that are the same on every machine: what the standard library draws is not.
#pragma once

#include <cstdint>

namespace sched {

// SplitMix64's finaliser (Steele, Lea, Flood, OOPSLA'14): spreads `value` over all 64 bits.
[[nodiscard]] constexpr std::uint64_t mix64(std::uint64_t value) {
  value += 0x9e37'79b9'7f4a'7c15;
  value = (value ^ (value >> 30)) * 0xbf58'476d'1ce4'e5b9;
  value = (value ^ (value >> 27)) * 0x94d0'49bb'1331'11eb;
  return value ^ (value >> 31);
}

// A number below `bound` (> 0) from 64 random bits; the bias is below bound/2^64.
[[nodiscard]] constexpr std::uint64_t bounded(std::uint64_t bits, std::uint64_t bound) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(bits) * bound) >> 64);
}

}  // namespace sched
