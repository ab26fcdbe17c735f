#include "bench/replay/report/page/text.h"

#include "k8s-client/json_text.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace bench::replay::page {
namespace {

// "1234567.5" → "1,234,567.5"
void group_thousands(std::string& digits) {
  for (std::size_t at = std::min(digits.find('.'), digits.size()); at > 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
}

}  // namespace

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

std::string json_text(const nlohmann::ordered_json& json) {
  std::string text = k8s::json_text(json);
  std::size_t at = 0;
  while ((at = text.find('<', at)) != std::string::npos) text.replace(at, 1, "\\u003c");
  return text;
}

std::string number(double value, int decimals) {
  std::string text = fmt::format("{:.{}f}", std::abs(value), decimals);
  const bool is_zero = text.find_first_not_of("0.") == std::string::npos;
  group_thousands(text);
  return value < 0 && !is_zero ? "−" + text : text;
}

std::string count(std::size_t value) {
  std::string text = std::to_string(value);
  group_thousands(text);
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
  constexpr std::array<Unit, 4> kUnits{
      {{86400, "day"}, {3600, "hour"}, {60, "minute"}, {1, "second"}}};
  constexpr double kNearlyOne = 0.999;  // "1 minute" and not "60 seconds"
  for (const Unit& unit : kUnits) {
    const double amount = seconds / unit.seconds;
    if (amount < kNearlyOne) continue;
    const bool whole = amount >= 9.95 || std::abs(amount - std::round(amount)) < 0.05;
    const std::string text = number(amount, whole ? 0 : 1);
    return text + " " + unit.name + (text == "1" ? "" : "s");
  }
  return seconds > 0 ? "under a second" : "0 seconds";
}

std::string took(double seconds, int decimals) {
  return "<span class=\"took\">" + number(seconds, decimals) + " seconds</span>";
}

}  // namespace bench::replay::page
