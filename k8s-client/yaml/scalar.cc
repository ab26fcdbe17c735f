#include "k8s-client/yaml/scalar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string>

namespace k8s::yaml {
namespace {

template <std::size_t N>
bool one_of(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

constexpr std::array<std::string_view, 5> kNull = {"", "~", "null", "Null", "NULL"};
constexpr std::array<std::string_view, 11> kTrue = {"y",    "Y",    "yes", "Yes", "YES", "true",
                                                    "True", "TRUE", "on",  "On",  "ON"};
constexpr std::array<std::string_view, 11> kFalse = {"n",     "N",     "no",  "No",  "NO", "false",
                                                     "False", "FALSE", "off", "Off", "OFF"};
constexpr std::array<std::string_view, 12> kNotFinite = {".nan",  ".NaN",  ".NAN",  ".inf",
                                                         ".Inf",  ".INF",  "+.inf", "+.Inf",
                                                         "+.INF", "-.inf", "-.Inf", "-.INF"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Removes a sign from the front; true if it was a minus.
bool take_sign(std::string_view& text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  return negative;
}

// The base of a prefix, which is removed. A single leading zero means octal.
int take_base(std::string_view& digits) {
  if (digits.size() < 2 || digits[0] != '0') return 10;
  const char mark = digits[1];
  digits.remove_prefix(1);
  if (is_digit(mark)) return 8;
  digits.remove_prefix(1);
  if (mark == 'x' || mark == 'X') return 16;
  if (mark == 'o' || mark == 'O') return 8;
  if (mark == 'b' || mark == 'B') return 2;
  digits = {};
  return 10;
}

// Go's strconv.ParseInt(text, 0, 64), and ParseUint as a floating-point number.
std::optional<Value::Data> parse_integer(std::string_view text) {
  const bool has_sign = text.starts_with('-') || text.starts_with('+');
  const bool negative = take_sign(text);
  const int base = take_base(text);
  std::uint64_t magnitude = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, magnitude, base);
  if (text.empty() || failure != std::errc{} || stop != end) return std::nullopt;
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (negative && magnitude == kMax + 1) return std::numeric_limits<std::int64_t>::min();
  if (magnitude <= kMax) {
    const auto value = static_cast<std::int64_t>(magnitude);
    return negative ? -value : value;
  }
  if (has_sign) return std::nullopt;
  return static_cast<double>(magnitude);
}

// ^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$
bool looks_like_float(std::string_view text) {
  std::size_t at = 0;
  const auto digits = [&] {
    const std::size_t from = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return at - from;
  };
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
  const std::size_t whole = digits();
  const bool point = at < text.size() && text[at] == '.';
  if (point) ++at;
  const std::size_t fraction = point ? digits() : 0;
  if (whole == 0 && fraction == 0) return false;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
    if (digits() == 0) return false;
  }
  return at == text.size();
}

std::optional<Value::Data> parse_float(std::string_view text) {
  if (!looks_like_float(text)) return std::nullopt;
  if (text.starts_with('+')) text.remove_prefix(1);  // from_chars does not accept a plus
  double value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc{}) return std::nullopt;
  return value;
}

}  // namespace

std::optional<Value::Data> resolve_plain(std::string_view text) {
  if (one_of(text, kNull)) return nullptr;
  if (one_of(text, kTrue)) return true;
  if (one_of(text, kFalse)) return false;
  if (one_of(text, kNotFinite)) return std::nullopt;
  const char first = text.front();
  if (first == '.') return parse_float(text).value_or(std::string(text));
  if (is_digit(first) || first == '-' || first == '+') {
    std::string plain(text);
    std::erase(plain, '_');
    if (auto integer = parse_integer(plain)) return integer;
    if (auto number = parse_float(plain)) return number;
  }
  return std::string(text);
}

}  // namespace k8s::yaml
