// Probes on an idle connection, so that a peer that vanished without a word is found in minutes
// rather than in the kernel's two hours.
#pragma once

#include "k8s-client/http/asio/boost_asio.h"

#include <netinet/tcp.h>
#include <sys/socket.h>

namespace k8s::http {

// For any TCP socket of Asio. Without these options a connection works all the same, so errors do
// not matter.
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

}  // namespace k8s::http
