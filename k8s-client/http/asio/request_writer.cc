#include "k8s-client/http/asio/request_writer.h"

#include "k8s-client/http/pooled/request_check.h"

#include <string_view>

namespace k8s::http {
namespace {

bool is_default_port(const Endpoint& endpoint) {
  return endpoint.port == (endpoint.tls ? 443 : 80);
}

std::string host_header(const Endpoint& endpoint) {
  const bool is_ipv6 = endpoint.host.find(':') != std::string::npos;
  std::string host = is_ipv6 ? "[" + endpoint.host + "]" : endpoint.host;
  if (!is_default_port(endpoint)) host += ":" + std::to_string(endpoint.port);
  return host;
}

void add_header(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ").append(value).append("\r\n");
}

}  // namespace

RequestWriter::RequestWriter(const Endpoint& endpoint, const std::string& user_agent)
    : path_prefix_(endpoint.path_prefix) {
  add_header(constant_headers_, "Host", host_header(endpoint));
  add_header(constant_headers_, "User-Agent", user_agent);
}

std::optional<Error> RequestWriter::write(const Request& request,
                                          const std::optional<std::string>& token,
                                          std::string& out) const {
  if (auto error = check_token(token)) return error;
  out.clear();
  out.append(to_string(request.method)).append(" ");
  out.append(path_prefix_).append(request.target).append(" HTTP/1.1\r\n");
  out.append(constant_headers_);
  if (token) out.append("Authorization: Bearer ").append(*token).append("\r\n");
  if (!has_own_accept(request)) add_header(out, "Accept", "application/json");
  for (const auto& [name, value] : request.headers) add_header(out, name, value);
  if (!request.body.empty()) add_header(out, "Content-Type", request.content_type);
  if (needs_length(request)) {
    add_header(out, "Content-Length", std::to_string(request.body.size()));
  }
  out.append("\r\n").append(request.body);
  return std::nullopt;
}

}  // namespace k8s::http
