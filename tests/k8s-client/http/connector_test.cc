// Several addresses of one server, some of them of no use.
#include "k8s-client/http/asio/connector.h"

#include "tests/k8s-client/http/full_port.h"
#include "tests/k8s-client/http/refusing_port.h"
#include "tests/support/catch.h"

#include <boost/asio/ip/address.hpp>

#include <optional>
#include <string>

using namespace std::chrono_literals;
using k8s::http::Connector;
using k8s::http::ErrorCode;

namespace {

using Acceptor = boost::asio::ip::tcp::acceptor;

Connector::Address at(std::uint16_t port) {
  return {boost::asio::ip::address_v4::loopback(), port};
}

// What came of connecting to these ports in turn, and to which.
struct Connected {
  std::optional<ErrorCode> result;
  std::uint16_t port = 0;
};

Connected connect(const std::vector<std::uint16_t>& ports, std::chrono::milliseconds time) {
  boost::asio::io_context context;
  k8s::http::Socket socket(context);
  std::vector<Connector::Address> addresses;
  for (const std::uint16_t port : ports) addresses.push_back(at(port));
  const auto connector = std::make_shared<Connector>(socket, addresses);
  Connected connected;
  connector->start(std::chrono::steady_clock::now() + time,
                   [&](ErrorCode error) { connected.result = error; });
  CHECK_FALSE(connected.result);
  context.run_for(60s);  // only a hang takes as long
  if (connected.result && !*connected.result) connected.port = socket.remote_endpoint().port();
  return connected;
}

}  // namespace

TEST_CASE("connector: the first address that takes the connection, however silent those before") {
  // One letter an address: good, refusing, silent.
  const std::string order = GENERATE("g", "gr", "rg", "sg", "srsg");
  CAPTURE(order);
  boost::asio::io_context context;
  const Acceptor alive(context, at(0));
  const std::uint16_t good = alive.local_endpoint().port();
  const tests::RefusingPort refusing;
  const tests::FullPort full;
  std::vector<std::uint16_t> ports;
  for (const char kind : order) {
    ports.push_back(kind == 'g' ? good : kind == 'r' ? refusing.port() : full.port());
  }
  const Connected connected = connect(ports, 400ms);
  REQUIRE(connected.result);
  CHECK_FALSE(*connected.result);
  CHECK(connected.port == good);
}

TEST_CASE("connector: when none does, the error of the last") {
  const tests::FullPort silent;
  const tests::RefusingPort refusing;
  const Connected connected = connect({silent.port(), refusing.port()}, 100ms);
  REQUIRE(connected.result);
  CHECK(*connected.result == boost::asio::error::connection_refused);
}

TEST_CASE("connector: nothing is heard of it once cancelled") {
  boost::asio::io_context context;
  const tests::FullPort silent;
  k8s::http::Socket socket(context);
  const auto connector =
      std::make_shared<Connector>(socket, std::vector{at(silent.port()), at(silent.port())});
  bool heard = false;
  connector->start(std::chrono::steady_clock::now() + 1h, [&](ErrorCode) { heard = true; });
  connector->cancel();
  socket.close();
  context.run();
  CHECK_FALSE(heard);
}
