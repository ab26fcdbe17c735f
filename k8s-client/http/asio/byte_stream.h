// A TCP connection, with or without TLS on it, behind one small interface.
//
// So that the code above (asio_connection.h) is written and compiled once. One read and one write
// may be under way; handlers run on the loop, never from within the call. A stream must exist until
// the handlers of its operations have run, so they must share its ownership: close() makes them run
// soon.
#pragma once

#include "k8s-client/http/base/boost_asio.h"
#include "k8s-client/http/base/tls_context.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace k8s::http {

class ByteStream {
 public:
  using OnDone = std::function<void(ErrorCode)>;
  using OnRead = std::function<void(ErrorCode, std::size_t)>;

  ByteStream() = default;
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;
  virtual ~ByteStream() = default;

  // The socket below: to connect it and to set its options.
  [[nodiscard]] virtual Socket& socket() = 0;

  // After connecting; the server must prove `name` (a DNS name or an IP address). A plain stream
  // does nothing here.
  virtual void handshake(const std::string& name, OnDone done) = 0;
  // Why the handshake failed, as text; empty if nothing better than the error code is known.
  [[nodiscard]] virtual std::string handshake_failure() = 0;

  // Some bytes, at least one. A clean end is asio::error::eof, with TLS only if the peer closed it
  // properly.
  virtual void read_some(asio::mutable_buffer into, OnRead done) = 0;
  // All of `bytes`, which must stay at their address.
  virtual void write(asio::const_buffer bytes, OnDone done) = 0;

  // True if bytes have arrived below that read_some() has not returned yet.
  [[nodiscard]] virtual bool has_unread() = 0;

  void close();
};

[[nodiscard]] std::unique_ptr<ByteStream> make_plain_stream(asio::io_context& context);
[[nodiscard]] std::unique_ptr<ByteStream> make_tls_stream(asio::io_context& context,
                                                          std::shared_ptr<TlsContext> tls);

// True if `error` came from TLS itself (an alert, a broken record), not from TCP.
[[nodiscard]] bool is_tls_error(const ErrorCode& error);

}  // namespace k8s::http
