// What no request may contain, and what each has.
//
// A target, header or token with a control character in it could end the line and smuggle in
// another request. What passes here makes one well-formed message, whoever writes it.
#pragma once

#include "k8s-client/error.h"
#include "k8s-client/http/transport.h"

#include <optional>
#include <string>

namespace k8s::http {

// kConfig if the request cannot be written: checked once, before it is queued.
[[nodiscard]] std::optional<Error> check_request(const Request& request);

// kConfig if `token` contains what no token does.
[[nodiscard]] std::optional<Error> check_token(const std::optional<std::string>& token);

// False: the transport adds its own, for JSON.
[[nodiscard]] bool has_own_accept(const Request& request);

// True if the length of the body must be said even if it is zero.
[[nodiscard]] bool needs_length(const Request& request);

}  // namespace k8s::http
