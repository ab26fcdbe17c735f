// The address of the API server.
#pragma once

#include <cstdint>
#include <string>

namespace k8s {

struct Endpoint {
  bool tls = true;
  std::string host;  // name or address, an IPv6 address without brackets
  std::uint16_t port = 443;
  std::string server_name;  // for SNI and verification; empty: host
  std::string path_prefix;  // "/k8s/clusters/c-1" if the server is below a path

  // The name that the server must prove.
  [[nodiscard]] const std::string& verified_name() const {
    return server_name.empty() ? host : server_name;
  }
};

// "HOST:PORT", with brackets around an IPv6 address.
[[nodiscard]] inline std::string host_and_port(const Endpoint& endpoint) {
  const bool is_ipv6 = endpoint.host.find(':') != std::string::npos;
  const std::string host = is_ipv6 ? "[" + endpoint.host + "]" : endpoint.host;
  return host + ":" + std::to_string(endpoint.port);
}

// "https://HOST:PORT/PREFIX", for messages.
[[nodiscard]] inline std::string url_of(const Endpoint& endpoint) {
  return (endpoint.tls ? "https://" : "http://") + host_and_port(endpoint) + endpoint.path_prefix;
}

}  // namespace k8s
