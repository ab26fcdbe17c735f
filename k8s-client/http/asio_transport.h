// Transport on Boost.Beast and OpenSSL: the default.
#pragma once

#include "k8s-client/error.h"
#include "k8s-client/http/event_loop.h"
#include "k8s-client/http/transport.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace k8s {

// Where the API server is, and how both sides prove who they are. Contents, not paths.
struct TlsMaterial {
  std::string ca_pem;           // the only trusted authorities; empty: the system's
  std::string certificate_pem;  // client certificate chain; empty: none
  std::string key_pem;
  bool insecure_skip_verify = false;  // only when the kubeconfig asks for it
  friend bool operator==(const TlsMaterial&, const TlsMaterial&) = default;
};

struct Endpoint {
  bool tls = true;
  std::string host;  // name or address, an IPv6 address without brackets
  std::uint16_t port = 443;
  std::string server_name;  // for SNI and verification; empty: host
  std::string path_prefix;  // "/k8s/clusters/c-1" when the server lives below a path
};

// Credentials as they are now. Both are asked for each request, so that rotated files take effect
// (connections made with older TLS material are not used again); implementations cache, and re-read
// by time. Called on the loop.
class Credentials {
 public:
  Credentials() = default;
  Credentials(const Credentials&) = delete;
  Credentials& operator=(const Credentials&) = delete;
  virtual ~Credentials() = default;

  // The bearer token; nullopt: none is used.
  [[nodiscard]] virtual Result<std::optional<std::string>> bearer_token() = 0;
  [[nodiscard]] virtual Result<TlsMaterial> tls() = 0;
  // The server answered 401: forget what is cached.
  virtual void rejected() {}
};

struct AsioTransportOptions {
  std::size_t max_connections = 32;
  std::chrono::seconds connect_timeout{10};  // TCP and TLS handshake together
  // Well before the API server closes them, after 90 s: a request that meets the close on its way
  // may or may not have been carried out.
  std::chrono::seconds idle_connection_limit{60};
  std::string user_agent = "gpu-scheduler";
  double qps = 5'000;  // requests per second sent, streams not counted; 0: unlimited
  int burst = 10'000;
};

// `loop` must come from make_asio_event_loop(); it and `credentials` must outlive the transport.
[[nodiscard]] std::unique_ptr<Transport> make_asio_transport(EventLoop& loop, Endpoint endpoint,
                                                             Credentials& credentials,
                                                             AsioTransportOptions options = {});

}  // namespace k8s
