// The part of a user's text that a message shows: its beginning, in whole characters.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace k8s {

// For UTF-8. A text that is cut ends in "…".
[[nodiscard]] inline std::string shown(std::string_view text, std::size_t most_bytes = 128) {
  if (text.size() <= most_bytes) return std::string(text);
  std::size_t end = most_bytes;
  const auto continues = [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80;
  };
  while (end > 0 && continues(text[end])) --end;
  return std::string(text.substr(0, end)) + "…";
}

}  // namespace k8s
