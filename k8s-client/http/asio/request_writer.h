// Makes the bytes of a Request for the connection.
//
// The result is one well-formed message, because only requests that request_check.h accepts are
// written.
#pragma once

#include "k8s-client/error.h"
#include "k8s-client/http/endpoint.h"
#include "k8s-client/http/transport.h"

#include <optional>
#include <string>

namespace k8s::http {

class RequestWriter {
 public:
  RequestWriter(const Endpoint& endpoint, const std::string& user_agent);

  // Replaces `out` by the message. The request must have passed check_request(); an error if
  // `token` does not pass check_token().
  [[nodiscard]] std::optional<Error> write(const Request& request,
                                           const std::optional<std::string>& token,
                                           std::string& out) const;

 private:
  std::string path_prefix_;
  std::string constant_headers_;  // those of every request, with their line ends
};

}  // namespace k8s::http
