#include "scheduler/live/transports.h"

#include "k8s-client/http/asio_transport.h"

namespace sched::live {

namespace {

std::unique_ptr<k8s::Transport> make(k8s::EventLoop& loop, const k8s::ClusterAccess& cluster,
                                     config::TransportKind kind,
                                     const k8s::TransportOptions& options) {
  const auto make_it = kind == config::TransportKind::kCpprest ? k8s::make_cpprest_transport
                                                               : k8s::make_asio_transport;
  return make_it(loop, cluster.endpoint, *cluster.credentials, options);
}

}  // namespace

k8s::Result<void> check_transport(const config::ClientConnection& connection, bool has_cpprest) {
  if (connection.transport != config::TransportKind::kCpprest || has_cpprest) return {};
  return k8s::config_error(
      "clientConnection.transport: cpprest is not built in; say asio, or build with "
      "GPU_SCHEDULER_CPPREST=ON (of the image: CPPREST=ON)");
}

std::unique_ptr<k8s::Transport> make_transport(k8s::EventLoop& loop,
                                               const k8s::ClusterAccess& cluster,
                                               const config::ClientConnection& connection,
                                               const BindTimes& times) {
  k8s::TransportOptions options;
  options.qps = connection.qps;
  options.burst = connection.burst;
  options.unacknowledged_limit = times.margin;
  // More than binds can have open, so that hanging binds do not delay the reads that settle them,
  // or statuses.
  options.max_connections = 64;
  return make(loop, cluster, connection.transport, options);
}

std::unique_ptr<k8s::Transport> make_lease_transport(k8s::EventLoop& loop,
                                                     const k8s::ClusterAccess& cluster,
                                                     const config::ClientConnection& connection) {
  k8s::TransportOptions options;
  options.qps = 0;
  options.max_connections = 2;
  return make(loop, cluster, connection.transport, options);
}

}  // namespace sched::live
