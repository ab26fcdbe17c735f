// What a request says, whichever encoding it says it in.
#pragma once

#include "k8s-client/http/transport.h"

#include <nlohmann/json_fwd.hpp>

#include <string_view>

namespace tests {

// A Binding or an Event in protobuf, in its envelope, as the JSON of the same object; empty fields
// are left out. Throws std::invalid_argument on anything else: a field that it does not know, too.
[[nodiscard]] nlohmann::json json_of_protobuf(std::string_view document);

// The body of a request as JSON, by its content type.
[[nodiscard]] nlohmann::json body_of(const k8s::Request& request);

}  // namespace tests
