// A port that is taken but on which nothing listens: the kernel refuses connections, and gives the
// port to no other socket meanwhile.
#pragma once

#include "tests/support/catch.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>

namespace tests {

class RefusingPort {
 public:
  RefusingPort() {
    auto* address = reinterpret_cast<sockaddr*>(&address_);
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address_);
    REQUIRE(::bind(taken_, address, size) == 0);
    REQUIRE(::getsockname(taken_, address, &size) == 0);
  }
  RefusingPort(const RefusingPort&) = delete;
  RefusingPort& operator=(const RefusingPort&) = delete;
  ~RefusingPort() { ::close(taken_); }
  [[nodiscard]] std::uint16_t port() const { return ntohs(address_.sin_port); }

 private:
  sockaddr_in address_{};
  const int taken_ = ::socket(AF_INET, SOCK_STREAM, 0);
};

}  // namespace tests
