// Texts of the API server; they should be UTF-8, but need not be.
//
// Go keeps any bytes in a string and shows what is no UTF-8 as U+FFFD when it writes JSON, but not
// in JSON that it passes on as it is: metadata.managedFields, which whoever creates an object may
// write. What one tenant wrote must not make a whole list unreadable.
#pragma once

#include <string>
#include <string_view>

namespace k8s {

[[nodiscard]] bool is_utf8(std::string_view text);

// The text with U+FFFD for each byte that does not belong to a character, as Go reads JSON. Linear
// in the text.
[[nodiscard]] std::string repaired(std::string_view text);

}  // namespace k8s
