// Texts of protobuf messages; they should be UTF-8, but need not be.
#pragma once

#include <string>
#include <string_view>

namespace k8s::protobuf {

[[nodiscard]] bool is_utf8(std::string_view text);

// The text with U+FFFD for each byte that does not belong to a character, as in JSON.
[[nodiscard]] std::string repaired(std::string_view text);

}  // namespace k8s::protobuf
