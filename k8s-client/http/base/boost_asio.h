// The parts of Boost.Asio that k8s-client uses, and their names here.
//
// Asio 1.18 uses std::exchange without including <utility>. All code includes Asio through this
// header, so that the order is right. Sockets and timers use io_context's own executor, not the
// type-erased one, which would cost an allocation and a virtual call per operation.
#pragma once

// clang-format off
#include <utility>
// clang-format on

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/basic_resolver.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>

namespace k8s::http {

namespace asio = boost::asio;

using ErrorCode = boost::system::error_code;
using Socket = asio::basic_stream_socket<asio::ip::tcp, asio::io_context::executor_type>;
using Resolver = asio::ip::basic_resolver<asio::ip::tcp, asio::io_context::executor_type>;
using AsioTimer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                             asio::wait_traits<std::chrono::steady_clock>,
                                             asio::io_context::executor_type>;

}  // namespace k8s::http
