// What cpprestsdk does where the server's name has several addresses and the first of them refuses;
// what is kept from one request to the next.
#include "k8s-client/http/cpprest/connection_observer.h"

#include "tests/k8s-client/http/transport_fixture.h"

#include <boost/asio/read_until.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <chrono>
#include <memory>
#include <string>

using k8s::http::ConnectionObserver;
using namespace tests;
namespace asio = boost::asio;
namespace sdk = k8s::http::sdk;

namespace {

std::unique_ptr<ConnectionObserver> observer_of(const std::string& name) {
  k8s::TlsMaterial material;
  material.ca_pem = cluster_authority().pem();
  k8s::Endpoint endpoint;
  endpoint.host = name;
  return std::make_unique<ConnectionObserver>(
      endpoint, k8s::http::make_tls_context(material).value(), std::chrono::milliseconds(0));
}

ServerOptions server_for(const std::string& alternative_names) {
  CertificateWish wish;
  wish.alternative_names = alternative_names;
  ServerOptions how;
  how.identity = cluster_authority().issue(wish);
  return how;
}

// A connection as http_client makes it.
class Connection {
 public:
  Connection(asio::io_context& io, ConnectionObserver& observer)
      : socket_(io), context_(asio::ssl::context::sslv23), tls_(socket_, set_up(observer)) {}
  sdk::TlsSocket& tls() { return tls_; }

 private:
  asio::ssl::context& set_up(ConnectionObserver& observer) {
    observer.set_up(context_);
    return context_;
  }

  sdk::PlainSocket socket_;
  asio::ssl::context context_;
  sdk::TlsSocket tls_;
};

// Begins a request over a connection, replaces that by another, which connects to `server`, and
// shakes hands there.
class Replaced {
 public:
  Replaced(ConnectionObserver& observer, const TlsServer& server)
      : connection_(std::make_unique<Connection>(io_, observer)) {
    observer.before_sending(&connection_->tls());
    connection_ = std::make_unique<Connection>(io_, observer);
    tls().next_layer().connect({asio::ip::make_address("127.0.0.1"), server.port()});
    tls().set_verify_mode(asio::ssl::verify_peer);
    tls().handshake(asio::ssl::stream_base::client, error_);
  }
  sdk::TlsSocket& tls() { return connection_->tls(); }
  [[nodiscard]] bool failed() const { return error_.failed(); }

 private:
  asio::io_context io_;
  std::unique_ptr<Connection> connection_;
  boost::system::error_code error_;
};

}  // namespace

TEST_CASE("cpprest: a connection to the next address of a name proves that name") {
  struct Case {
    std::string certificate;
    std::string name;
    std::string want;  // why it is refused; empty: it is not
    std::string asked_for = {};
  };
  const std::string refused = "the server's certificate is not accepted: ";
  const auto c = GENERATE_COPY(values<Case>({
      {"DNS:api.example.com", "api.example.com", "", "api.example.com"},
      {"DNS:other.example.com", "api.example.com", refused + "hostname mismatch"},
      {"DNS:ap*.example.com", "api.example.com", refused + "hostname mismatch"},
      {"IP:127.0.0.1", "127.0.0.1", ""},
      {"IP:127.0.0.2", "127.0.0.1", refused + "IP address mismatch"},
  }));
  CAPTURE(c.certificate, c.name);
  TlsServer server(server_for(c.certificate), [](ServerConnection& connection) {
    if (!connection.handshake()) return;
    connection.send(connection.server_name() + "\n");
    connection.wait_for_close();
  });
  const auto observer = observer_of(c.name);
  observer->expect_request({});
  Replaced replaced(*observer, server);
  CHECK(observer->tls_failure() == c.want);
  REQUIRE(replaced.failed() == !c.want.empty());
  if (replaced.failed()) return;
  std::string said;
  asio::read_until(replaced.tls(), asio::dynamic_buffer(said), '\n');
  CHECK(said == c.asked_for + "\n");
}

TEST_CASE("cpprest: what is too late once the next address of a name has answered is not sent") {
  TlsServer server(server_for("IP:127.0.0.1"),
                   answering([](const ReceivedRequest&) { return ok("never"); }));
  const auto observer = observer_of("127.0.0.1");
  observer->expect_request(k8s::BootClock::now() - std::chrono::seconds(1));
  Replaced replaced(*observer, server);
  REQUIRE_FALSE(replaced.failed());
  boost::system::error_code error;
  asio::write(replaced.tls(), asio::buffer(std::string("GET / HTTP/1.1\r\n\r\n")), error);
  CHECK(error.failed());
  CHECK_FALSE(observer->stop());
  CHECK(server.requests().empty());
}

TEST_CASE("cpprest: why a server refused one request is not told of the next") {
  ServerOptions how = server_for("IP:127.0.0.1");
  how.client_ca_pem = cluster_authority().pem();
  TlsServer server(how, [](ServerConnection& connection) {
    if (connection.handshake()) connection.wait_for_close();
  });
  const auto observer = observer_of("127.0.0.1");
  observer->expect_request({});
  Replaced replaced(*observer, server);
  std::array<char, 1> byte{};
  boost::system::error_code error;
  replaced.tls().read_some(asio::buffer(byte), error);
  REQUIRE(error.failed());
  CHECK_THAT(observer->tls_failure(), Catch::StartsWith("the server says: "));
  observer->expect_request({});
  CHECK(observer->tls_failure().empty());
}
