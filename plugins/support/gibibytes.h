// Amounts of memory as text.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace plugins {

// The bytes of what labels count.
inline constexpr std::int64_t kMib = std::int64_t{1} << 20;

// "80Gi", "79.6Gi".
[[nodiscard]] inline std::string gibibytes(std::int64_t bytes) {
  constexpr std::int64_t kGib = std::int64_t{1} << 30;
  if (bytes % kGib == 0) return fmt::format("{}Gi", bytes / kGib);
  return fmt::format("{:.1f}Gi", static_cast<double>(bytes) / static_cast<double>(kGib));
}

}  // namespace plugins
