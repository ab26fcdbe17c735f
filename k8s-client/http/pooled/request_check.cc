#include "k8s-client/http/pooled/request_check.h"

#include "k8s-client/ascii.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace k8s::http {
namespace {

// Set by the transport itself, or part of the message framing, which the transport does.
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

bool is_header_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
  });
}

Error bad_request(std::string message) {
  Error error;
  error.kind = ErrorKind::kConfig;
  error.message = std::move(message);
  return error;
}

}  // namespace

std::optional<Error> check_request(const Request& request) {
  if (!all_visible(request.target) || request.target.front() != '/') {
    return bad_request("the target must begin with \"/\" and be percent-encoded");
  }
  if (!is_header_value(request.content_type)) {
    return bad_request("the content type contains a character that no header may have");
  }
  for (const auto& [name, value] : request.headers) {
    if (!is_header_name(name) || !is_header_value(value)) {
      return bad_request("header \"" + name + "\" contains a character that no header may have");
    }
    if (std::find(kOwnHeaders.begin(), kOwnHeaders.end(), lower_case(name)) != kOwnHeaders.end()) {
      return bad_request("header \"" + name + "\" is set by the transport alone");
    }
  }
  return std::nullopt;
}

std::optional<Error> check_token(const std::optional<std::string>& token) {
  if (!token || all_visible(*token)) return std::nullopt;
  return bad_request("the bearer token is empty or contains a character that no token has");
}

bool has_own_accept(const Request& request) {
  return std::any_of(request.headers.begin(), request.headers.end(),
                     [](const auto& header) { return lower_case(header.first) == "accept"; });
}

bool needs_length(const Request& request) {
  const bool may_have_body = request.method != Method::kGet && request.method != Method::kDelete;
  return may_have_body || !request.body.empty();
}

}  // namespace k8s::http
