// Turns a Request into the bytes that go over the wire.
//
// What it writes is one well-formed message whatever it is given: a target, header or token with a
// control character in it could end the line and smuggle in another request, and is an error.
#pragma once

#include "k8s-client/error.h"
#include "k8s-client/http/asio_transport.h"
#include "k8s-client/http/transport.h"

#include <optional>
#include <string>

namespace k8s::http {

class RequestWriter {
 public:
  RequestWriter(const Endpoint& endpoint, const std::string& user_agent);

  // kConfig if the request cannot be written: checked once, before it is queued.
  [[nodiscard]] static std::optional<Error> check(const Request& request);

  // Replaces `out` by the message. The request must have passed check(); kConfig if `token`
  // contains what no token does.
  [[nodiscard]] std::optional<Error> write(const Request& request,
                                           const std::optional<std::string>& token,
                                           std::string& out) const;

 private:
  std::string path_prefix_;
  std::string constant_headers_;  // those that every request carries, with their line ends
};

}  // namespace k8s::http
