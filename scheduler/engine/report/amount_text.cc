#include "scheduler/engine/report/amount_text.h"

#include <fmt/format.h>

#include <array>

namespace sched {
namespace {

bool counts_bytes(std::string_view resource) {
  return resource == "memory" || resource == "ephemeral-storage" ||
         resource.starts_with("hugepages-");
}

std::string bytes_text(std::int64_t bytes) {
  constexpr std::array kUnits{"Ei", "Pi", "Ti", "Gi", "Mi", "Ki"};
  int shift = 60;
  for (const char* unit : kUnits) {
    const std::int64_t one = std::int64_t{1} << shift;
    if (bytes >= one) {
      // In sixteenths of the divisor, so that ten times the value stays in 64 bits.
      const std::int64_t tenths = (bytes % one / 16) * 10 / (one / 16);
      return tenths == 0 ? fmt::format("{}{}", bytes / one, unit)
                         : fmt::format("{}.{}{}", bytes / one, tenths, unit);
    }
    shift -= 10;
  }
  return fmt::format("{}", bytes);
}

}  // namespace

std::string amount_text(std::string_view resource, std::int64_t amount) {
  if (amount < 0) return "-" + amount_text(resource, amount == INT64_MIN ? INT64_MAX : -amount);
  if (resource == "cpu" && amount % 1000 != 0) return fmt::format("{}m", amount);
  if (resource == "cpu") return fmt::format("{}", amount / 1000);
  if (counts_bytes(resource)) return bytes_text(amount);
  return fmt::format("{}", amount);
}

}  // namespace sched
