#include "scheduler/live/transports.h"

#include "k8s-client/event_recorder.h"
#include "k8s-client/http/asio_transport.h"
#include "scheduler/live/writes/binder.h"
#include "scheduler/live/writes/evictor.h"
#include "scheduler/live/writes/preparer.h"
#include "scheduler/live/writes/quota_status_writer.h"
#include "scheduler/live/writes/status_writer.h"

#include <arpa/inet.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <string>

namespace sched::live {

namespace {

bool is_address(const std::string& host) {
  std::array<unsigned char, 16> address{};
  return ::inet_pton(AF_INET, host.c_str(), address.data()) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), address.data()) == 1;
}

// Lists of watches that are opened, and what is asked now and then.
constexpr std::size_t kOtherCalls = 24;

std::size_t most_open_calls() {
  return BindQueue::Options{}.max_open + Binder::Options{}.max_open_reads +
         StatusWriter::Options{}.max_in_flight + QuotaStatusWriter::Options{}.max_open +
         Evictor::kMostOpen + Preparer::kMostOpen + k8s::EventRecorder::Options{}.max_in_flight +
         kOtherCalls;
}

std::unique_ptr<k8s::Transport> make(k8s::EventLoop& loop, const k8s::ClusterAccess& cluster,
                                     config::TransportKind kind, k8s::TransportOptions options) {
  options.user_agent = cluster.user_agent;
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

k8s::TransportOptions transport_options(const config::ClientConnection& connection,
                                        const BindTimes& times) {
  k8s::TransportOptions options;
  options.qps = connection.qps;
  options.burst = connection.burst;
  options.unacknowledged_limit = times.margin;
  options.max_connections = most_open_calls();
  return options;
}

std::unique_ptr<k8s::Transport> make_transport(k8s::EventLoop& loop,
                                               const k8s::ClusterAccess& cluster,
                                               const config::ClientConnection& connection,
                                               const BindTimes& times) {
  return make(loop, cluster, connection.transport, transport_options(connection, times));
}

k8s::TransportOptions lease_transport_options(const k8s::Endpoint& server, const BindTimes& times) {
  k8s::TransportOptions options;
  options.qps = 0;
  options.max_connections = 2;
  options.unacknowledged_limit = times.margin;
  if (is_address(server.host)) options.connect_timeout = std::chrono::seconds{3};
  return options;
}

std::unique_ptr<k8s::Transport> make_lease_transport(k8s::EventLoop& loop,
                                                     const k8s::ClusterAccess& cluster,
                                                     const config::ClientConnection& connection,
                                                     const BindTimes& times) {
  return make(loop, cluster, connection.transport,
              lease_transport_options(cluster.endpoint, times));
}

}  // namespace sched::live
