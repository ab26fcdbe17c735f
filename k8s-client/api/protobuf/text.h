// Texts of protobuf messages, which should be UTF-8 and need not be.
#pragma once

#include <string>
#include <string_view>

namespace k8s::protobuf {

[[nodiscard]] bool is_utf8(std::string_view text);

// The text with U+FFFD for each byte that is no part of a character: as JSON would show it.
[[nodiscard]] std::string repaired(std::string_view text);

}  // namespace k8s::protobuf
