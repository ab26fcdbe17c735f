#include "k8s-client/auth/proxy_environment.h"

#include "k8s-client/ascii.h"
#include "k8s-client/parse_number.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

namespace k8s::auth {
namespace {

// 16 bytes: an IPv4 address as its IPv4-mapped IPv6 address.
using Address = std::array<unsigned char, 16>;

std::optional<Address> parse_address(const std::string& text) {
  Address address{};
  if (::inet_pton(AF_INET6, text.c_str(), address.data()) == 1) return address;
  address = {};
  address[10] = address[11] = 0xff;
  if (::inet_pton(AF_INET, text.c_str(), address.data() + 12) == 1) return address;
  return std::nullopt;
}

bool is_ipv4(const Address& address) {
  return address[10] == 0xff && address[11] == 0xff &&
         std::all_of(address.begin(), address.begin() + 10, [](unsigned char b) { return b == 0; });
}

bool is_loopback(const Address& address) {
  if (is_ipv4(address)) return address[12] == 127;
  Address one{};
  one[15] = 1;
  return address == one;
}

bool same_bits(const Address& a, const Address& b, std::size_t bits) {
  for (std::size_t bit = 0; bit < bits; ++bit) {
    if (((a[bit / 8] ^ b[bit / 8]) >> (7 - bit % 8) & 1) != 0) return false;
  }
  return true;
}

// "10.0.0.0/8" or "fd00::/8".
bool is_in_network(const Address& address, std::string_view network) {
  const auto slash = network.find('/');
  if (slash == std::string_view::npos) return false;
  const auto base = parse_address(std::string(network.substr(0, slash)));
  auto bits = parse_number<std::size_t>(network.substr(slash + 1));
  if (!base || !bits || is_ipv4(*base) != is_ipv4(address)) return false;
  if (is_ipv4(*base)) *bits += 96;
  return *bits <= 128 && same_bits(address, *base, *bits);
}

struct Pattern {
  std::string host;  // without brackets
  std::string port;  // empty: any
};

Pattern parse_pattern(std::string_view text) {
  if (!text.empty() && text.front() == '[') {
    const auto end = std::min(text.find(']'), text.size());
    const auto rest = text.substr(std::min(end + 1, text.size()));
    return {std::string(text.substr(1, end - 1)),
            std::string(rest.substr(std::min<std::size_t>(1, rest.size())))};
  }
  const auto colon = text.find(':');
  const bool one_colon = colon != std::string_view::npos && text.rfind(':') == colon;
  if (!one_colon) return {std::string(text), ""};
  return {std::string(text.substr(0, colon)), std::string(text.substr(colon + 1))};
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// One entry of NO_PROXY, in lower case.
bool matches(std::string_view entry, const std::string& host, std::uint16_t port) {
  if (entry == "*") return true;
  const auto address = parse_address(host);
  if (address && is_in_network(*address, entry)) return true;
  Pattern pattern = parse_pattern(entry);
  if (!pattern.port.empty() && pattern.port != std::to_string(port)) return false;
  if (address) return parse_address(pattern.host) == address;
  if (pattern.host.substr(0, 2) == "*.") pattern.host.erase(0, 1);
  if (pattern.host.empty()) return false;
  if (pattern.host.front() == '.') return ends_with(host, pattern.host);
  return host == pattern.host || ends_with(host, "." + pattern.host);
}

bool is_excepted(const Endpoint& endpoint, const std::string& exceptions) {
  const std::string host = lower_case(endpoint.host);
  const auto address = parse_address(host);
  if (host == "localhost" || (address && is_loopback(*address))) return true;
  std::string_view rest = exceptions;
  while (!rest.empty()) {
    const auto comma = std::min(rest.find(','), rest.size());
    const std::string entry = lower_case(trimmed(rest.substr(0, comma), " \t"));
    if (!entry.empty() && matches(entry, host, endpoint.port)) return true;
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return false;
}

struct Variable {
  std::string name;
  std::string value;
};

Variable read(const Environment& environment, const std::string& upper) {
  for (const std::string& name : {upper, lower_case(upper)}) {
    if (std::string value = environment(name); !value.empty()) return {name, std::move(value)};
  }
  return {};
}

}  // namespace

std::string environment_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::string() : std::string(value);
}

std::optional<Error> refuse_proxy(const Endpoint& endpoint, const Environment& environment) {
  const Variable proxy = read(environment, endpoint.tls ? "HTTPS_PROXY" : "HTTP_PROXY");
  if (proxy.value.empty()) return std::nullopt;
  if (is_excepted(endpoint, read(environment, "NO_PROXY").value)) return std::nullopt;
  Error error;
  error.kind = ErrorKind::kConfig;
  error.message = "the environment's " + proxy.name + " applies to the API server at " +
                  host_and_port(endpoint) +
                  ", and proxies are not supported; if it can be reached directly, add " +
                  endpoint.host + " to NO_PROXY";
  return error;
}

}  // namespace k8s::auth
