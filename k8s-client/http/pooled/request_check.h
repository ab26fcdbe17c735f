// What no request may contain, and what every request has.
//
// A target, header or token with a control character could end the line and add another request.
// What is accepted here makes one well-formed message, whatever the arguments contain.
#pragma once

#include "k8s-client/error.h"
#include "k8s-client/http/transport.h"

#include <optional>
#include <string>

namespace k8s::http {

// kConfig if the request cannot be written: checked once, before it is queued.
[[nodiscard]] std::optional<Error> check_request(const Request& request);

// kConfig if `token` contains a character that no token has.
[[nodiscard]] std::optional<Error> check_token(const std::optional<std::string>& token);

// False: the transport adds its own, for JSON.
[[nodiscard]] bool has_own_accept(const Request& request);

// True if the length of the body must be sent even if it is zero.
[[nodiscard]] bool needs_length(const Request& request);

}  // namespace k8s::http
