// That the kernel is told to drop what the server's machine does not acknowledge. That it does so
// takes a network that loses packets, which a test has not.
#include "tests/k8s-client/http/transport_fixture.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <filesystem>

using namespace std::chrono_literals;
using namespace tests;

namespace {

// TCP_USER_TIMEOUT of this process's connections to that port, in milliseconds.
std::vector<unsigned> user_timeouts(std::uint16_t port) {
  std::vector<unsigned> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int descriptor = std::stoi(entry.path().filename());
    sockaddr_in peer{};
    socklen_t size = sizeof peer;
    if (::getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &size) != 0) continue;
    if (peer.sin_family != AF_INET || ntohs(peer.sin_port) != port) continue;
    unsigned timeout = 0;
    size = sizeof timeout;
    REQUIRE(::getsockopt(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout, &size) == 0);
    found.push_back(timeout);
  }
  return found;
}

}  // namespace

TEST_CASE("transport: the kernel is told how long what is sent may go unacknowledged") {
  FOR_EACH_TRANSPORT(fixture);
  fixture.serve(answering([](const ReceivedRequest&) { return ok("yes"); }));
  const auto limit = GENERATE(0ms, 1234ms);  // 0: the kernel's own
  fixture.options.unacknowledged_limit = limit;
  CHECK(fixture.exchange(post("/", "{}"))->response().status == 200);
  const auto timeouts = user_timeouts(fixture.endpoint.port);
  CHECK(timeouts == std::vector<unsigned>{static_cast<unsigned>(limit.count())});
}
