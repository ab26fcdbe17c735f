// Proxies of the environment: HTTPS_PROXY, HTTP_PROXY and NO_PROXY, read as by Go's clients.
//
// This client cannot use a proxy, and to bypass one that is configured would be a surprise. So it
// is an error if a proxy would apply to the API server, and nothing if none would. The rules are
// those of golang.org/x/net/http/httpproxy: names in upper or lower case, the first that is not
// empty; never for localhost and loopback addresses. NO_PROXY is a list of "*", addresses, networks
// (10.0.0.0/8), and names, which include the names below them (only those with a leading dot), each
// with a port or without.
#pragma once

#include "k8s-client/error.h"
#include "k8s-client/http/endpoint.h"

#include <functional>
#include <optional>
#include <string>

namespace k8s::auth {

// The value of a variable; empty: not set.
using Environment = std::function<std::string(const std::string& name)>;

// The process's own environment.
[[nodiscard]] std::string environment_variable(const std::string& name);

// kConfig if a proxy would apply to `endpoint`. It names the variable and a remedy, never the
// proxy, because its URL may hold a password.
[[nodiscard]] std::optional<Error> refuse_proxy(
    const Endpoint& endpoint, const Environment& environment = environment_variable);

}  // namespace k8s::auth
