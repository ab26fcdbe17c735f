// Options of every Transport.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace k8s {

struct TransportOptions {
  std::size_t max_connections = 32;
  std::chrono::seconds connect_timeout{10};  // TCP and TLS handshake together
  // Well before the API server closes them, after 90 s: a request that is sent while the server
  // closes the connection may or may not have been carried out.
  std::chrono::seconds idle_connection_limit{60};
  // Sent bytes that the server's machine has not acknowledged after this time are dropped, and the
  // connection is closed, whatever happens to this process meanwhile (TCP_USER_TIMEOUT). So no
  // request arrives late after an interruption of the network. Zero: the kernel tries for minutes.
  std::chrono::milliseconds unacknowledged_limit{0};
  std::string user_agent = "gpu-scheduler";
  double qps = 5'000;  // requests per second sent, streams not counted; 0: unlimited
  int burst = 10'000;
};

}  // namespace k8s
