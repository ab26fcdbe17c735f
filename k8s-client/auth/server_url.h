// The parts of a kubeconfig's `server`.
#pragma once

#include "k8s-client/error.h"
#include "k8s-client/http/endpoint.h"

#include <string_view>

namespace k8s::auth {

// "https://HOST[:PORT][/PREFIX]" or the same with http. Otherwise kConfig with what is wrong: user
// info, a query and a fragment have no meaning here.
[[nodiscard]] Result<Endpoint> parse_server_url(std::string_view url);

}  // namespace k8s::auth
