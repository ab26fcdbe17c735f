// Proxies of the environment: HTTPS_PROXY, HTTP_PROXY and NO_PROXY, as Go's clients read them.
//
// We cannot use a proxy, and going past one that somebody has set up would be a surprise: so it is
// an error when one would apply to the API server, and nothing when none would. The rules are those
// of golang.org/x/net/http/httpproxy: names in upper or lower case, the first that is not empty;
// never for localhost and loopback addresses; NO_PROXY is a list of "*", addresses, networks
// (10.0.0.0/8), and names, which stand for what is below them too (below alone with a leading dot),
// each with a port or without.
#pragma once

#include "k8s-client/error.h"
#include "k8s-client/http/endpoint.h"

#include <functional>
#include <optional>
#include <string>

namespace k8s::auth {

// The value of a variable; empty: not set.
using Environment = std::function<std::string(const std::string& name)>;

// The process's.
[[nodiscard]] std::string environment_variable(const std::string& name);

// kConfig, naming the variable and the way out (never the proxy, whose URL may hold a password), if
// a proxy would apply to `endpoint`.
[[nodiscard]] std::optional<Error> refuse_proxy(
    const Endpoint& endpoint, const Environment& environment = environment_variable);

}  // namespace k8s::auth
