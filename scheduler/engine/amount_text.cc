#include "scheduler/engine/amount_text.h"

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
      const std::int64_t tenths = bytes % one / (one / 10 + 1);
      return tenths == 0 ? fmt::format("{}{}", bytes / one, unit)
                         : fmt::format("{}.{}{}", bytes / one, tenths, unit);
    }
    shift -= 10;
  }
  return fmt::format("{}", bytes);
}

std::string cores_text(std::int64_t milli) {
  if (milli % 1000 == 0) return fmt::format("{}", milli / 1000);
  std::string text = fmt::format("{}.{:03}", milli / 1000, milli % 1000);
  while (text.back() == '0') text.pop_back();
  return text;
}

}  // namespace

std::string amount_text(std::string_view resource, std::int64_t amount) {
  if (amount < 0) return "-" + amount_text(resource, amount == INT64_MIN ? INT64_MAX : -amount);
  if (resource == "cpu") return cores_text(amount);
  if (counts_bytes(resource)) return bytes_text(amount);
  return fmt::format("{}", amount);
}

}  // namespace sched
