// The number that a text is: all of it, or nothing.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace k8s {

// As std::from_chars reads it, and the text has nothing before or behind it: no blank, no '+', no
// digit grouping; a '-' only if `Number` has a sign. Leading zeros are allowed. nullopt: the text
// is no such number, or the number is too large for the type.
template <typename Number>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || after != end) return std::nullopt;
  return number;
}

}  // namespace k8s
