// The server over real sockets on the loopback interface.
#include "scheduler/server/http_server.h"

#include "tests/support/catch.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>

namespace {

using sched::server::HttpServer;
using sched::server::Reply;

// A server on a free port, on a loop with a thread of its own.
class Bench {
 public:
  Bench() {
    auto listening = HttpServer::listen(*loop_, "127.0.0.1:0", [](std::string_view path) {
      return Reply{path == "/ok" ? 200 : 404, "path " + std::string(path) + "\n"};
    });
    REQUIRE(listening);
    server_ = std::move(*listening);
    port = server_->port();
    thread_ = std::thread([this] { loop_->run(); });
  }
  ~Bench() {
    loop_->stop();
    thread_.join();
  }

  // Sends `request` and reads until the server closes.
  [[nodiscard]] std::string exchange(const std::string& request) const {
    const int socket = connect();
    REQUIRE(send(socket, request.data(), request.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(request.size()));
    std::string answer;
    std::array<char, 4096> chunk{};
    for (ssize_t n = 0; (n = recv(socket, chunk.data(), chunk.size(), 0)) > 0;) {
      answer.append(chunk.data(), static_cast<std::size_t>(n));
    }
    close(socket);
    return answer;
  }

  std::uint16_t port = 0;

 private:
  [[nodiscard]] int connect() const {
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
    return socket;
  }

  std::unique_ptr<k8s::EventLoop> loop_ = k8s::make_asio_event_loop();
  std::unique_ptr<HttpServer> server_;
  std::thread thread_;
};

}  // namespace

TEST_CASE("a GET is answered, and the connection closed") {
  const Bench bench;
  const std::string answer = bench.exchange("GET /ok?verbose HTTP/1.1\r\nHost: x\r\n\r\n");
  CHECK_THAT(answer, Catch::StartsWith("HTTP/1.1 200 OK\r\n"));
  CHECK_THAT(answer, Catch::EndsWith("\r\n\r\npath /ok\n"));
  CHECK_THAT(answer, Catch::Contains("Connection: close"));
  CHECK_THAT(bench.exchange("GET /no HTTP/1.1\r\nHost: x\r\n\r\n"),
             Catch::StartsWith("HTTP/1.1 404 "));
}

TEST_CASE("a HEAD has no body, other methods are refused") {
  const Bench bench;
  CHECK_THAT(bench.exchange("HEAD /ok HTTP/1.1\r\nHost: x\r\n\r\n"), Catch::EndsWith("\r\n\r\n"));
  CHECK_THAT(bench.exchange("POST /ok HTTP/1.1\r\nHost: x\r\n\r\n"),
             Catch::StartsWith("HTTP/1.1 405 "));
}

TEST_CASE("what is no HTTP, and what is too large, is cut off; the next one is served") {
  const Bench bench;
  CHECK(bench.exchange("this is no request\r\n\r\n").empty());
  CHECK(bench.exchange("GET /ok HTTP/1.1\r\nX: " + std::string(9'000, 'x')).empty());
  CHECK_THAT(bench.exchange("GET /ok HTTP/1.0\r\n\r\n"), Catch::StartsWith("HTTP/1.0 200 "));
}

TEST_CASE("addresses that cannot be listened on") {
  const auto loop = k8s::make_asio_event_loop();
  const auto message = [&](const std::string& address) {
    const auto server = HttpServer::listen(*loop, address, [](auto) { return Reply{}; });
    return server ? std::string("listens") : server.error().message;
  };
  for (const char* address :
       {"", "10251", "localhost:1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:1x", "::1"}) {
    CHECK_THAT(message(address), Catch::Contains("is no address to listen on"));
  }
  const Bench taken;
  CHECK_THAT(message("127.0.0.1:" + std::to_string(taken.port)),
             Catch::Contains("Address already in use"));
}
