// The secure port: /metrics over HTTPS, on a thread of its own.
//
// Whatever is done to it costs nothing on the event loop, which renews the lease and answers
// probes: TLS, pages of megabytes and the reviews of tokens are this thread's, which has a lower
// priority. It asks the API server over connections of its own, a few times a second at most, with
// credentials of its own (those of the event loop know one thread).
#pragma once

#include "k8s-client/auth/cluster_access.h"
#include "k8s-client/client.h"
#include "k8s-client/error.h"
#include "scheduler/server/serving_certificate.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace sched::live {

struct MetricsPortOptions {
  std::string address;  // "IP:PORT"
  server::CertificateFiles certificate;
  k8s::ClusterAccess cluster;  // whom to ask who may read
};

class MetricsPort {
 public:
  // Opens the port, and serves until it is destroyed. `text` gives Prometheus' text format; it and
  // `observer`, which is told of each review, are called on the thread.
  [[nodiscard]] static k8s::Result<std::unique_ptr<MetricsPort>> open(
      MetricsPortOptions options, std::function<std::string()> text, k8s::RequestObserver observer);
  ~MetricsPort();
  MetricsPort(const MetricsPort&) = delete;
  MetricsPort& operator=(const MetricsPort&) = delete;

  [[nodiscard]] std::uint16_t port() const;

 private:
  class Parts;
  explicit MetricsPort(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace sched::live
