#include "k8s-client/http/asio/request_writer.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace k8s::http {
namespace {

// Set by the transport itself, or describing the framing, which is the transport's business.
constexpr std::array<std::string_view, 7> kOwnHeaders = {
    "host",       "authorization",  "user-agent",       "content-type",
    "connection", "content-length", "transfer-encoding"};

bool is_visible(char c) { return c > ' ' && c < 0x7f; }

bool all_visible(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_visible);
}

bool is_header_value(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return is_visible(c) || c == ' ' || c == '\t'; });
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

bool is_header_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
  });
}

Error unusable(std::string message) {
  Error error;
  error.kind = ErrorKind::kConfig;
  error.message = std::move(message);
  return error;
}

bool is_default_port(const Endpoint& endpoint) {
  return endpoint.port == (endpoint.tls ? 443 : 80);
}

std::string host_header(const Endpoint& endpoint) {
  const bool is_ipv6 = endpoint.host.find(':') != std::string::npos;
  std::string host = is_ipv6 ? "[" + endpoint.host + "]" : endpoint.host;
  if (!is_default_port(endpoint)) host += ":" + std::to_string(endpoint.port);
  return host;
}

bool has_own_accept(const Request& request) {
  return std::any_of(request.headers.begin(), request.headers.end(),
                     [](const auto& header) { return lower(header.first) == "accept"; });
}

bool may_have_body(Method method) { return method != Method::kGet && method != Method::kDelete; }

void add_header(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ").append(value).append("\r\n");
}

}  // namespace

RequestWriter::RequestWriter(const Endpoint& endpoint, const std::string& user_agent)
    : path_prefix_(endpoint.path_prefix) {
  add_header(constant_headers_, "Host", host_header(endpoint));
  add_header(constant_headers_, "User-Agent", user_agent);
}

std::optional<Error> RequestWriter::check(const Request& request) {
  if (!all_visible(request.target) || request.target.front() != '/') {
    return unusable("the target must begin with \"/\" and be percent-encoded");
  }
  if (!is_header_value(request.content_type)) {
    return unusable("the content type contains a character that no header may have");
  }
  for (const auto& [name, value] : request.headers) {
    if (!is_header_name(name) || !is_header_value(value)) {
      return unusable("header \"" + name + "\" contains a character that no header may have");
    }
    if (std::find(kOwnHeaders.begin(), kOwnHeaders.end(), lower(name)) != kOwnHeaders.end()) {
      return unusable("header \"" + name + "\" is set by the transport alone");
    }
  }
  return std::nullopt;
}

std::optional<Error> RequestWriter::write(const Request& request,
                                          const std::optional<std::string>& token,
                                          std::string& out) const {
  if (token && !all_visible(*token)) {
    return unusable("the bearer token is empty or contains a character that no token has");
  }
  out.clear();
  out.append(to_string(request.method)).append(" ");
  out.append(path_prefix_).append(request.target).append(" HTTP/1.1\r\n");
  out.append(constant_headers_);
  if (token) out.append("Authorization: Bearer ").append(*token).append("\r\n");
  if (!has_own_accept(request)) add_header(out, "Accept", "application/json");
  for (const auto& [name, value] : request.headers) add_header(out, name, value);
  if (!request.body.empty()) add_header(out, "Content-Type", request.content_type);
  if (!request.body.empty() || may_have_body(request.method)) {
    add_header(out, "Content-Length", std::to_string(request.body.size()));
  }
  out.append("\r\n").append(request.body);
  return std::nullopt;
}

}  // namespace k8s::http
