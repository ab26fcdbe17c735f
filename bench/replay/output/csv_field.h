// A field of a CSV file: names come from files, and are quoted by RFC 4180 if needed.
#pragma once

#include <string>
#include <string_view>

namespace bench::replay {

[[nodiscard]] inline std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace bench::replay
