#include "bench/replay/report/page/text.h"

#include <fmt/core.h>

#include <array>
#include <cmath>

namespace bench::replay::page {

std::string escape(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      case '\n':
      case '\t':
        escaped += c;
        break;
      default: {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7f) {
          escaped += "\xEF\xBF\xBD";
        } else {
          escaped += c;
        }
      }
    }
  }
  return escaped;
}

std::string json_for_script(std::string json) {
  std::size_t at = 0;
  while ((at = json.find('<', at)) != std::string::npos) json.replace(at, 1, "\\u003c");
  return json;
}

std::string number(double value, int decimals) {
  std::string text = fmt::format("{:.{}f}", std::abs(value), decimals);
  const bool is_zero = text.find_first_not_of("0.") == std::string::npos;
  return value < 0 && !is_zero ? "−" + text : text;
}

std::string count(std::size_t value) {
  std::string text = std::to_string(value);
  for (std::size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, 1, ',');
  }
  return text;
}

std::string spread(const Spread& value, int decimals) {
  const std::string mean = number(value.mean, decimals);
  return value.runs > 1 ? mean + " ± " + number(value.deviation, decimals) : mean;
}

std::string duration(double seconds) {
  struct Unit {
    double seconds;
    const char* name;
  };
  constexpr std::array<Unit, 4> kUnits{{{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}}};
  for (const Unit& unit : kUnits) {
    if (seconds < unit.seconds) continue;
    const double amount = seconds / unit.seconds;
    const bool whole = amount >= 10 || std::abs(amount - std::round(amount)) < 0.05;
    return fmt::format("{:.{}f} {}", amount, whole ? 0 : 1, unit.name);
  }
  return seconds > 0 ? fmt::format("{:.0f} ms", seconds * 1000) : "0 s";
}

}  // namespace bench::replay::page
