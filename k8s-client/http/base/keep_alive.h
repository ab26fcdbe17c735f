// What the kernel does if the peer is silent: it probes an idle connection, so that a peer that has
// vanished is detected in minutes, not in two hours; and it stops repeating bytes that are not
// acknowledged.
#pragma once

#include "k8s-client/http/base/boost_asio.h"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <chrono>

namespace k8s::http {

// For any TCP socket of Asio. A connection also works without these options, so errors do not
// matter.
template <typename TcpSocket>
void enable_keep_alive(TcpSocket& socket) {
  using Idle = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_KEEPIDLE>;
  using Interval = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_KEEPINTVL>;
  constexpr int kSeconds = 30;
  ErrorCode ignored;
  socket.set_option(asio::socket_base::keep_alive(true), ignored);
  socket.set_option(Idle(kSeconds), ignored);
  socket.set_option(Interval(kSeconds), ignored);
}

// TransportOptions::unacknowledged_limit. It also applies after this process has ended or while it
// is stopped.
template <typename TcpSocket>
void limit_unacknowledged(TcpSocket& socket, std::chrono::milliseconds limit) {
  using UserTimeout = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_USER_TIMEOUT>;
  if (limit <= std::chrono::milliseconds::zero()) return;
  ErrorCode ignored;
  socket.set_option(UserTimeout(static_cast<int>(limit.count())), ignored);
}

}  // namespace k8s::http
