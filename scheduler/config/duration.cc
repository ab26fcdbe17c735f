#include "scheduler/config/duration.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace sched::config {

namespace {

using Unit = std::pair<std::string_view, std::int64_t>;

// In nanoseconds; a longer name comes before those that it begins with.
constexpr std::array<Unit, 6> kUnits{{
    {"ms", 1'000'000},
    {"us", 1'000},
    {"ns", 1},
    {"s", 1'000'000'000},
    {"m", 60'000'000'000},
    {"h", 3'600'000'000'000},
}};

std::size_t digits_at_front(std::string_view text) {
  const auto end = text.find_first_not_of("0123456789");
  return end == std::string_view::npos ? text.size() : end;
}

const Unit* unit_at_front(std::string_view text) {
  for (const Unit& unit : kUnits) {
    if (text.starts_with(unit.first)) return &unit;
  }
  return nullptr;
}

// `whole`.`fraction` units; nothing if that is too long a time.
std::optional<std::int64_t> nanoseconds_of(std::string_view whole, std::string_view fraction,
                                           std::int64_t unit) {
  std::int64_t total = 0;
  for (const char digit : whole) {
    if (__builtin_mul_overflow(total, 10, &total)) return std::nullopt;
    if (__builtin_add_overflow(total, digit - '0', &total)) return std::nullopt;
  }
  if (__builtin_mul_overflow(total, unit, &total)) return std::nullopt;
  for (const char digit : fraction) {
    unit /= 10;
    if (__builtin_add_overflow(total, unit * (digit - '0'), &total)) return std::nullopt;
  }
  return total;
}

}  // namespace

std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text) {
  if (text == "0") return std::chrono::nanoseconds(0);
  if (text.empty()) return std::nullopt;
  std::int64_t total = 0;
  while (!text.empty()) {
    const std::string_view whole = text.substr(0, digits_at_front(text));
    text.remove_prefix(whole.size());
    std::string_view fraction;
    if (text.starts_with('.')) {
      text.remove_prefix(1);
      fraction = text.substr(0, digits_at_front(text));
      text.remove_prefix(fraction.size());
    }
    const Unit* unit = unit_at_front(text);
    if (unit == nullptr || (whole.empty() && fraction.empty())) return std::nullopt;
    text.remove_prefix(unit->first.size());
    const auto part = nanoseconds_of(whole, fraction, unit->second);
    if (!part || __builtin_add_overflow(total, *part, &total)) return std::nullopt;
  }
  return std::chrono::nanoseconds(total);
}

}  // namespace sched::config
