#include "k8s-client/auth/server_url.h"

#include "k8s-client/parse_number.h"

#include <algorithm>
#include <optional>

namespace k8s::auth {
namespace {

// Without the URL, which may hold a password.
tl::unexpected<Error> unusable(const std::string& why) { return config_error("the URL " + why); }

bool is_plain(char c) { return c > ' ' && c < 0x7f; }

// "HOST", "HOST:PORT", "[IPv6]", "[IPv6]:PORT" into `endpoint`; false if it is none of these.
bool parse_authority(std::string_view authority, Endpoint& endpoint) {
  std::string_view rest;
  if (!authority.empty() && authority.front() == '[') {
    const auto end = authority.find(']');
    if (end == std::string_view::npos) return false;
    endpoint.host = authority.substr(1, end - 1);
    rest = authority.substr(end + 1);
  } else {
    const auto colon = std::min(authority.find(':'), authority.size());
    endpoint.host = authority.substr(0, colon);
    rest = authority.substr(colon);
  }
  if (endpoint.host.empty()) return false;
  if (rest.empty()) return true;
  if (rest.front() != ':') return false;
  endpoint.port = parse_number<std::uint16_t>(rest.substr(1)).value_or(0);
  return endpoint.port != 0;
}

}  // namespace

Result<Endpoint> parse_server_url(std::string_view url) {
  constexpr std::string_view kHttps = "https://";
  constexpr std::string_view kHttp = "http://";
  Endpoint endpoint;
  endpoint.tls = url.substr(0, kHttps.size()) == kHttps;
  if (!endpoint.tls && url.substr(0, kHttp.size()) != kHttp) {
    return unusable("must begin with https:// or http://");
  }
  if (!endpoint.tls) endpoint.port = 80;
  if (!std::all_of(url.begin(), url.end(), is_plain)) {
    return unusable("contains a space or a character that must be percent-encoded");
  }
  const auto after_scheme = url.substr(endpoint.tls ? kHttps.size() : kHttp.size());
  if (after_scheme.find_first_of("?#@") != std::string_view::npos) {
    return unusable("must have neither user info nor a query nor a fragment");
  }
  const auto slash = std::min(after_scheme.find('/'), after_scheme.size());
  endpoint.path_prefix = after_scheme.substr(slash);
  while (!endpoint.path_prefix.empty() && endpoint.path_prefix.back() == '/') {
    endpoint.path_prefix.pop_back();
  }
  if (!parse_authority(after_scheme.substr(0, slash), endpoint)) {
    return unusable("must name a host, and a port from 1 to 65535 if any");
  }
  return endpoint;
}

}  // namespace k8s::auth
