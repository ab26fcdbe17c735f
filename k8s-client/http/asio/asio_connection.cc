#include "k8s-client/http/asio/asio_connection.h"

#include "k8s-client/http/base/keep_alive.h"

#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace k8s::http {
namespace {

// A buffer larger than this is not kept for the next request.
constexpr std::size_t kKeptOutgoing = 256 * 1024;

}  // namespace

AsioConnection::AsioConnection(asio::io_context& context, const Endpoint& endpoint,
                               const RequestWriter& writer, std::shared_ptr<TlsContext> tls,
                               std::chrono::milliseconds unacknowledged_limit)
    : endpoint_(endpoint),
      writer_(writer),
      tls_(std::move(tls)),
      unacknowledged_limit_(unacknowledged_limit),
      resolver_(context),
      open_timer_(context),
      stream_(tls_ ? make_tls_stream(context, tls_) : make_plain_stream(context)) {}

std::string AsioConnection::address() const { return host_and_port(endpoint_); }

void AsioConnection::open(std::chrono::milliseconds timeout, OnOpen done) {
  on_open_ = std::move(done);
  open_until_ = Connector::Clock::now() + timeout;
  open_timer_.expires_at(open_until_);
  open_timer_.async_wait([self = shared_from_this(), timeout](const ErrorCode& error) {
    if (error || !self->on_open_) return;
    self->finish_open(make_error(ErrorKind::kConnect, "connect to " + self->address() +
                                                          ": no connection after " +
                                                          std::to_string(timeout.count()) + " ms"));
  });
  resolve();
}

void AsioConnection::resolve() {
  ErrorCode not_an_address;
  const auto ip = asio::ip::make_address(endpoint_.host, not_an_address);
  if (!not_an_address) {
    connect({Connector::Address(ip, endpoint_.port)});
    return;
  }
  resolver_.async_resolve(
      endpoint_.host, std::to_string(endpoint_.port),
      [self = shared_from_this()](const ErrorCode& error, const Resolver::results_type& found) {
        if (!self->on_open_) return;
        if (!error) return self->connect({found.begin(), found.end()});
        self->finish_open(make_error(
            ErrorKind::kConnect, "resolve \"" + self->endpoint_.host + "\": " + error.message()));
      });
}

void AsioConnection::connect(std::vector<Connector::Address> addresses) {
  connector_ = std::make_shared<Connector>(stream_->socket(), std::move(addresses));
  connector_->start(open_until_, [self = shared_from_this()](ErrorCode error) {
    self->connector_.reset();
    if (self->on_open_) self->on_connected(error);
  });
}

void AsioConnection::on_connected(const ErrorCode& error) {
  if (error) {
    finish_open(
        make_error(ErrorKind::kConnect, "connect to " + address() + ": " + error.message()));
    return;
  }
  ErrorCode ignored;  // without this option the connection works, too
  stream_->socket().set_option(asio::ip::tcp::no_delay(true), ignored);
  enable_keep_alive(stream_->socket());
  limit_unacknowledged(stream_->socket(), unacknowledged_limit_);
  stream_->handshake(endpoint_.verified_name(), [self = shared_from_this()](ErrorCode failure) {
    if (self->on_open_) self->on_handshake(failure);
  });
}

void AsioConnection::on_handshake(const ErrorCode& error) {
  if (!error) {
    open_ = true;
    finish_open(std::nullopt);
    return;
  }
  const std::string why = stream_->handshake_failure();
  finish_open(make_error(ErrorKind::kTls, "TLS handshake with " + address() + " as \"" +
                                              endpoint_.verified_name() +
                                              "\": " + (why.empty() ? error.message() : why)));
}

void AsioConnection::finish_open(std::optional<Error> error) {
  open_timer_.cancel();
  const auto done = std::exchange(on_open_, nullptr);
  if (error) close();
  done(std::move(error));
}

std::optional<Error> AsioConnection::converse(const Request& request,
                                              const std::optional<std::string>& token,
                                              std::shared_ptr<AnswerHandler> handler) {
  may_have_sent_ = false;
  if (auto error = writer_.write(request, token, outgoing_)) return error;
  may_have_sent_ = true;
  used_ = true;
  handler_ = std::move(handler);
  reader_.start(*handler_);
  stream_->write(asio::buffer(outgoing_), [self = shared_from_this()](ErrorCode error) {
    if (!self->handler_) return;
    if (error) return self->fail(error, "while the request was sent");
    self->read();
  });
  return std::nullopt;
}

void AsioConnection::read() {
  stream_->read_some(reader_.room(),
                     [self = shared_from_this()](ErrorCode error, std::size_t size) {
                       if (self->handler_) self->on_read(error, size);
                     });
}

void AsioConnection::on_read(const ErrorCode& error, std::size_t size) {
  const auto alive = handler_;  // it may close this connection during the call
  const auto progress = reader_.take(size);
  if (!handler_) return;
  switch (progress) {
    case AnswerReader::Progress::kComplete:
      return on_complete();
    case AnswerReader::Progress::kBroken:
      return fail(reader_.error(), "broken HTTP");
    case AnswerReader::Progress::kPartial:
      return error ? on_end_of_bytes(error) : read();
  }
}

void AsioConnection::on_end_of_bytes(const ErrorCode& error) {
  const bool any_answer = reader_.any_bytes();
  if (error != asio::error::eof) {
    return fail(error, any_answer ? "in the middle of the answer" : "before any answer");
  }
  if (reader_.take_end() == AnswerReader::Progress::kComplete) return on_complete();
  const bool began = reader_.error() != asio::error::eof;
  fail(reader_.error(), began ? "closed by the server in the middle of its answer"
                              : "closed by the server before its answer");
}

void AsioConnection::on_complete() {
  outgoing_.clear();
  if (outgoing_.capacity() > kKeptOutgoing) outgoing_.shrink_to_fit();
  const auto handler = std::exchange(handler_, nullptr);
  handler->on_complete();
}

void AsioConnection::fail(const ErrorCode& error, const std::string& what) {
  // With TLS 1.3 the server refuses a client certificate only after the client's side of the
  // handshake.
  const bool any_answer = reader_.any_bytes();
  const bool tls = is_tls_error(error) && !any_answer;
  const auto handler = handler_;
  close();
  handler->on_broken(
      make_error(tls ? ErrorKind::kTls : ErrorKind::kConnection,
                 "connection to " + address() + ": " + what + ": " + error.message()),
      any_answer);
}

bool AsioConnection::is_reusable() {
  if (!open_ || handler_ || !reader_.keep_alive()) return false;
  // On a connection that was never used, waiting bytes are session tickets (TLS 1.3), which are
  // read with the first answer.
  if (!used_) return true;
  if (reader_.unread() > 0 || stream_->has_unread()) return false;
  // Anything to read, including the end, was not requested.
  char byte = 0;
  const auto got = ::recv(stream_->socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got < 0 && errno == EAGAIN;
}

void AsioConnection::close() {
  open_ = false;
  on_open_ = nullptr;
  handler_.reset();
  reader_.stop();
  resolver_.cancel();
  if (connector_) connector_->cancel();
  open_timer_.cancel();
  stream_->close();
}

}  // namespace k8s::http
