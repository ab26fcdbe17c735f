#include "scheduler/live/transports.h"

#include "k8s-client/event_recorder.h"
#include "scheduler/live/writes/bind_queue.h"
#include "scheduler/live/writes/binder.h"
#include "scheduler/live/writes/evictor.h"
#include "scheduler/live/writes/preparer.h"
#include "scheduler/live/writes/quota_status_writer.h"
#include "scheduler/live/writes/status_writer.h"
#include "tests/support/catch.h"

#include <chrono>
#include <cstddef>
#include <string>

namespace sched::live {

TEST_CASE("a transport that is not built in is refused in words") {
  const auto message = [](config::TransportKind kind, bool has_cpprest) {
    config::ClientConnection connection;
    connection.transport = kind;
    const auto checked = check_transport(connection, has_cpprest);
    return checked ? std::string("fine") : checked.error().message;
  };
  using config::TransportKind;
  CHECK(message(TransportKind::kAsio, false) == "fine");
  CHECK(message(TransportKind::kAsio, true) == "fine");
  CHECK(message(TransportKind::kCpprest, true) == "fine");
  CHECK(message(TransportKind::kCpprest, false) ==
        "clientConnection.transport: cpprest is not built in; say asio, or build with "
        "GPU_SCHEDULER_CPPREST=ON (of the image: CPPREST=ON)");
}

TEST_CASE("the lease does not wait for a connection that has become silent") {
  using std::chrono::milliseconds;
  using std::chrono::seconds;
  const BindTimes times{.deadline = milliseconds{3'000}, .margin = milliseconds{600}};
  struct Case {
    const char* host;
    seconds connect_timeout;
  };
  for (const Case& c : {Case{"10.96.0.1", seconds{3}}, Case{"fd00::1", seconds{3}},
                        Case{"api.example.com", seconds{10}}}) {
    CAPTURE(c.host);
    k8s::Endpoint server;
    server.host = c.host;
    const k8s::TransportOptions options = lease_transport_options(server, times);
    CHECK(options.unacknowledged_limit == milliseconds{600});
    CHECK(options.connect_timeout == c.connect_timeout);
    CHECK(options.qps == 0);
  }
}

TEST_CASE("binds find a connection while all other writes hang") {
  const k8s::TransportOptions options = transport_options({}, {});
  const std::size_t others = StatusWriter::Options{}.max_in_flight +
                             QuotaStatusWriter::Options{}.max_open +
                             k8s::EventRecorder::Options{}.max_in_flight + Evictor::kMostOpen +
                             Preparer::kMostOpen + Binder::Options{}.max_open_reads;
  CHECK(options.max_connections > others + BindQueue::Options{}.max_open);
}

TEST_CASE("a build with tests has both transports") { CHECK(k8s::has_cpprest_transport()); }

}  // namespace sched::live
