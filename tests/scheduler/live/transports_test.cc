#include "scheduler/live/transports.h"

#include "tests/support/catch.h"

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

TEST_CASE("a build with tests has both transports") { CHECK(k8s::has_cpprest_transport()); }

}  // namespace sched::live
