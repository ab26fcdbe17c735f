// Random numbers that are equal on every machine; those of the standard library are not.
#pragma once

#include "k8s-client/splitmix64.h"

#include <cstdint>

namespace sched {

using k8s::mix64;

// A number below `bound` (> 0) from 64 random bits; the bias is below bound/2^64.
[[nodiscard]] constexpr std::uint64_t bounded(std::uint64_t bits, std::uint64_t bound) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(bits) * bound) >> 64);
}

}  // namespace sched
