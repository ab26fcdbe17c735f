// Makes http_client's request of a Request.
#pragma once

#include "k8s-client/error.h"
#include "k8s-client/http/cpprest/sdk.h"
#include "k8s-client/http/endpoint.h"
#include "k8s-client/http/transport.h"

#include <optional>
#include <string>

namespace k8s::http {

class RequestMaker {
 public:
  RequestMaker(const Endpoint& endpoint, std::string user_agent)
      : path_prefix_(endpoint.path_prefix), user_agent_(std::move(user_agent)) {}

  // The request must have passed check_request(); kConfig if `token` does not pass check_token(),
  // or if cpprestsdk does not accept the target.
  [[nodiscard]] Result<sdk::http_request> make(const Request& request,
                                               const std::optional<std::string>& token) const;

 private:
  std::string path_prefix_;
  std::string user_agent_;
};

}  // namespace k8s::http
