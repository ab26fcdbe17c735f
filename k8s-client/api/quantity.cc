// Parsing follows ParseQuantity step by step, including its leniency: the API server stores "5.",
// "k" or "+" (five, zero, zero), so a client must be able to read them.
#include "k8s-client/api/quantity.h"

#include "k8s-client/parse_number.h"
#include "k8s-client/shown.h"

#include <algorithm>
#include <array>

namespace k8s {
namespace {

__extension__ using Int128 = __int128;

constexpr std::int64_t kInt64Max = std::numeric_limits<std::int64_t>::max();
constexpr Int128 kNanosPerUnit = 1'000'000'000;
constexpr Int128 kMaxNanos = Int128{kInt64Max} * kNanosPerUnit;  // Quantity::kLimit
// Decimal digits of kMaxNanos: anything longer is beyond it.
constexpr std::int64_t kMaxDigits = 28;

// A number as written: ±whole.fraction × 10^exponent × 2^shift.
struct Written {
  bool negative = false;
  bool has_digits = false;
  std::string_view whole;     // without leading zeros
  std::string_view fraction;  // as it stands
  std::string_view suffix;
  std::int32_t exponent = 0;
  int shift = 0;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view take_digits(std::string_view& text) {
  const auto* end = std::find_if_not(text.begin(), text.end(), is_digit);
  const auto count = static_cast<std::size_t>(end - text.begin());
  const std::string_view digits = text.substr(0, count);
  text.remove_prefix(count);
  return digits;
}

// Splits sign, digits and suffix; false if what follows the digits cannot be a suffix.
bool split(std::string_view text, Written& out) {
  out.negative = text.starts_with('-');
  if (out.negative || text.starts_with('+')) text.remove_prefix(1);
  std::string_view whole = take_digits(text);
  out.has_digits = !whole.empty();
  whole.remove_prefix(std::min(whole.find_first_not_of('0'), whole.size()));
  out.whole = whole;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    out.fraction = take_digits(text);
    out.has_digits = out.has_digits || !out.fraction.empty();
  }
  out.suffix = text;
  const std::size_t letters = std::min(text.find_first_not_of("eEinumkKMGTP"), text.size());
  text.remove_prefix(letters);
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  take_digits(text);
  return text.empty();
}

struct Suffix {
  std::string_view text;
  std::int32_t exponent;
  int shift;
};
constexpr std::array<Suffix, 16> kSuffixes = {{{"", 0, 0},
                                               {"n", -9, 0},
                                               {"u", -6, 0},
                                               {"m", -3, 0},
                                               {"k", 3, 0},
                                               {"M", 6, 0},
                                               {"G", 9, 0},
                                               {"T", 12, 0},
                                               {"P", 15, 0},
                                               {"E", 18, 0},
                                               {"Ki", 0, 10},
                                               {"Mi", 0, 20},
                                               {"Gi", 0, 30},
                                               {"Ti", 0, 40},
                                               {"Pi", 0, 50},
                                               {"Ei", 0, 60}}};

bool interpret_suffix(Written& number) {
  for (const auto& suffix : kSuffixes) {
    if (suffix.text != number.suffix) continue;
    number.exponent = suffix.exponent;
    number.shift = suffix.shift;
    return true;
  }
  std::string_view text = number.suffix;
  if (text.size() < 2 || (text[0] != 'e' && text[0] != 'E')) return false;
  text.remove_prefix(1);
  if (text.starts_with('+') && text.size() > 1) text.remove_prefix(1);
  const auto exponent = parse_number<std::int64_t>(text);
  if (!exponent) return false;
  number.exponent = static_cast<std::int32_t>(*exponent);  // upstream keeps the low 32 bits, too
  return true;
}

// Upstream reads a number without any digit as zero only on its fast path, which it does not use
// for the largest binary suffixes and below 1n.
bool empty_number_is_zero(const Written& number) {
  constexpr int kPebi = 50;
  return number.shift < kPebi && number.exponent >= -9;
}

// whole.fraction × 10^exponent in nanos, rounded up; limited to kMaxNanos.
Int128 decimal_nanos(const Written& number) {
  std::string digits(number.whole);
  digits += number.fraction;
  const std::size_t zeros = std::min(digits.find_first_not_of('0'), digits.size());
  digits.erase(0, zeros);
  if (digits.empty()) return 0;
  const auto size = static_cast<std::int64_t>(digits.size());
  // How many of the digits are before the decimal point of the nanos.
  const std::int64_t kept =
      size - static_cast<std::int64_t>(number.fraction.size()) + std::int64_t{number.exponent} + 9;
  if (kept > kMaxDigits) return kMaxNanos;
  Int128 nanos = 0;
  for (std::int64_t i = 0; i < kept; ++i) {
    const bool given = i < size;
    nanos = nanos * 10 + (given ? digits[static_cast<std::size_t>(i)] - '0' : 0);
  }
  const auto rest = static_cast<std::size_t>(std::max<std::int64_t>(kept, 0));
  const bool exact = rest >= digits.size() || digits.find_first_not_of('0', rest) == digits.npos;
  return std::min(nanos + (exact ? 0 : 1), kMaxNanos);
}

// whole.fraction × 2^shift in nanos, rounded up; limited to kMaxNanos.
Int128 binary_nanos(const Written& number) {
  constexpr std::size_t kInt64Digits = 19;
  if (number.whole.size() > kInt64Digits) return kMaxNanos;
  Int128 units = 0;
  for (const char digit : number.whole) units = units * 10 + (digit - '0');
  units <<= number.shift;
  if (units >= kInt64Max) return kMaxNanos;
  // 0.fraction × 2^shift × 10^9 by Horner's rule from the last digit; remainders of the divisions
  // matter only for rounding up.
  const Int128 unit = (Int128{1} << number.shift) * kNanosPerUnit;
  Int128 nanos = 0;
  bool exact = true;
  for (auto digit = number.fraction.rbegin(); digit != number.fraction.rend(); ++digit) {
    const Int128 sum = (*digit - '0') * unit + nanos;
    nanos = sum / 10;
    exact = exact && sum % 10 == 0;
  }
  return std::min(units * kNanosPerUnit + nanos + (exact ? 0 : 1), kMaxNanos);
}

std::int64_t divided_up(Int128 nanos, Int128 divisor) {
  Int128 quotient = nanos / divisor;
  const Int128 rest = nanos % divisor;
  if (rest != 0) quotient += nanos > 0 ? 1 : -1;
  const Int128 limit = kInt64Max;
  return static_cast<std::int64_t>(std::clamp<Int128>(quotient, -limit, limit));
}

tl::unexpected<Error> rejected(std::string_view text) {
  return decode_error("'" + shown(text, 64) +
                      "' is not a quantity; write a number with an optional suffix, as in 500m, 2 "
                      "or 16Gi");
}

}  // namespace

Result<Quantity> Quantity::parse(std::string_view text) {
  Written number;
  if (text.empty() || !split(text, number) || !interpret_suffix(number)) return rejected(text);
  if (!number.has_digits) {
    if (!empty_number_is_zero(number)) return rejected(text);
    return Quantity();
  }
  const Int128 nanos = number.shift > 0 ? binary_nanos(number) : decimal_nanos(number);
  return Quantity(number.negative ? -nanos : nanos);
}

std::int64_t Quantity::value() const { return divided_up(nanos_, kNanosPerUnit); }

std::int64_t Quantity::milli_value() const { return divided_up(nanos_, kNanosPerUnit / 1000); }

std::string Quantity::to_string() const {
  constexpr std::array<std::string_view, 4> kFractionSuffixes = {"", "m", "u", "n"};
  Int128 divisor = kNanosPerUnit;
  std::size_t suffix = 0;
  while (nanos_ % divisor != 0) {
    divisor /= 1000;
    ++suffix;
  }
  std::string digits;
  for (Int128 rest = nanos_ / divisor; rest != 0; rest /= 10) {
    const int digit = static_cast<int>(rest % 10);
    digits += static_cast<char>('0' + (digit < 0 ? -digit : digit));
  }
  if (digits.empty()) digits = "0";
  if (nanos_ < 0) digits += '-';
  std::reverse(digits.begin(), digits.end());
  return digits.append(kFractionSuffixes[suffix]);
}

}  // namespace k8s
