// A port on which nothing accepts and no more connection fits into the queue, so that the kernel
// lets new ones wait for ever.
#pragma once

#include "tests/support/catch.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <vector>

namespace tests {

class FullPort {
 public:
  FullPort() {
    listening_ = ::socket(AF_INET, SOCK_STREAM, 0);
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address_);
    REQUIRE(::bind(listening_, generic(), size) == 0);
    REQUIRE(::listen(listening_, 0) == 0);
    REQUIRE(::getsockname(listening_, generic(), &size) == 0);
    for (int i = 0; i < 4; ++i) {
      fillers_.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
      (void)::connect(fillers_.back(), generic(), size);
    }
  }
  FullPort(const FullPort&) = delete;
  FullPort& operator=(const FullPort&) = delete;
  ~FullPort() {
    for (const int filler : fillers_) ::close(filler);
    ::close(listening_);
  }
  [[nodiscard]] std::uint16_t port() const { return ntohs(address_.sin_port); }

 private:
  sockaddr* generic() { return reinterpret_cast<sockaddr*>(&address_); }
  sockaddr_in address_{};
  int listening_ = -1;
  std::vector<int> fillers_;
};

}  // namespace tests
