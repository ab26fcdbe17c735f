// JSON as text, for nlohmann's types.
#pragma once

#include <string>

namespace k8s {

// Texts from the API server and from users may hold any bytes. What is no UTF-8 is replaced by
// U+FFFD: nothing must fail because of it. `indent` below 0: on one line.
template <typename Json>
[[nodiscard]] std::string json_text(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace k8s
