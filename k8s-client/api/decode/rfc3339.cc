#include "k8s-client/api/decode/rfc3339.h"

#include <fmt/format.h>

#include <algorithm>

namespace k8s::json {
namespace {

using std::chrono::days;
using std::chrono::microseconds;
using std::chrono::year;

// For a year of four digits.
constexpr Timestamp kFirst = std::chrono::sys_days(year(0) / 1 / 1);
constexpr Timestamp kLast = std::chrono::sys_days(year(10000) / 1 / 1) - microseconds(1);

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Reads a text from its beginning; anything unexpected makes it, and everything that follows, not
// ok.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  int digits(std::size_t count) {
    int value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (rest_.empty() || !is_digit(rest_.front())) ok_ = false;
      if (!ok_) return 0;
      value = value * 10 + (rest_.front() - '0');
      rest_.remove_prefix(1);
    }
    return value;
  }
  void expect(char c) {
    if (!take(c)) ok_ = false;
  }
  bool take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  // The fraction's digits as microseconds.
  std::int64_t fraction() {
    std::int64_t value = 0;
    std::int64_t unit = 100'000;
    if (rest_.empty() || !is_digit(rest_.front())) ok_ = false;
    for (; !rest_.empty() && is_digit(rest_.front()); rest_.remove_prefix(1)) {
      value += (rest_.front() - '0') * unit;
      unit /= 10;
    }
    return value;
  }
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool done() const { return ok_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

// Minutes east of UTC.
int read_offset(Scanner& in) {
  if (in.take('Z')) return 0;
  const int sign = in.take('-') ? -1 : 1;
  if (sign > 0) in.expect('+');
  const int hours = in.digits(2);
  in.expect(':');
  const int minutes = in.digits(2);
  return sign * (hours * 60 + minutes);
}

}  // namespace

std::optional<Timestamp> parse_rfc3339(std::string_view text) {
  Scanner in(text);
  const int y = in.digits(4);
  in.expect('-');
  const auto month = static_cast<unsigned>(in.digits(2));
  in.expect('-');
  const auto day = static_cast<unsigned>(in.digits(2));
  in.expect('T');
  const int hour = in.digits(2);
  in.expect(':');
  const int minute = in.digits(2);
  in.expect(':');
  const int second = in.digits(2);
  const std::int64_t micros = in.take('.') || in.take(',') ? in.fraction() : 0;
  const int offset = read_offset(in);
  const std::chrono::year_month_day date{year(y), std::chrono::month(month), std::chrono::day(day)};
  const bool in_range = hour < 24 && minute < 60 && second < 60 && std::abs(offset) < 24 * 60;
  if (!in.done() || !date.ok() || !in_range) return std::nullopt;
  const Timestamp time = std::chrono::sys_days(date) + std::chrono::hours(hour) +
                         std::chrono::minutes(minute - offset) + std::chrono::seconds(second) +
                         microseconds(micros);
  if (time < kFirst || time > kLast) return std::nullopt;  // its offset left the calendar
  return time;
}

std::string format_rfc3339(Timestamp time) {
  std::string text = format_micro_time(time);
  constexpr std::string_view kWholeSecond = ".000000Z";
  if (!text.ends_with(kWholeSecond)) return text;
  text.resize(text.size() - kWholeSecond.size());
  return text + "Z";
}

std::string format_seconds(Timestamp time) {
  return format_rfc3339(std::chrono::floor<std::chrono::seconds>(time));
}

std::string format_micro_time(Timestamp time) {
  time = std::clamp(time, kFirst, kLast);
  const auto day = std::chrono::floor<days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
}

}  // namespace k8s::json
