// One connection to the server: opened once, then one request and answer after the other.
//
// Transports differ in this; queue, limits, pool, deadlines and cancellation are above and the same
// for all (pooled_transport.h). Everything is called on the loop; callbacks come from the loop, not
// from within the call that registered them and, after close(), not at all.
#pragma once

#include "k8s-client/error.h"
#include "k8s-client/http/transport.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace k8s::http {

struct TlsContext;

// The events of one request that was given to a connection: on_head once, then on_body, then
// on_complete; or on_broken at any point.
class AnswerHandler {
 public:
  AnswerHandler() = default;
  AnswerHandler(const AnswerHandler&) = delete;
  AnswerHandler& operator=(const AnswerHandler&) = delete;
  virtual ~AnswerHandler() = default;

  // `head` has no body yet.
  virtual void on_head(Response head) = 0;
  // Nothing more is read until it returns, so that a slow handler slows the server down.
  virtual void on_body(std::string_view bytes) = 0;
  virtual void on_complete() = 0;
  // `any_answer`: at least one byte of an answer had come. may_have_acted is not set in `error`.
  virtual void on_broken(Error error, bool any_answer) = 0;
};

class Connection {
 public:
  // nullopt: open. An Error of kConnect or kTls otherwise.
  using OnOpen = std::function<void(std::optional<Error>)>;

  Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  virtual ~Connection() = default;

  // `timeout` is for connecting and the TLS handshake together.
  virtual void open(std::chrono::milliseconds timeout, OnOpen done) = 0;

  // Sends the request, which has passed check_request(), and reads the answer. One at a time.
  // Request::send_by was checked just before: the request must not be delayed here without another
  // check. An error if `token` contains a character that no token has; then nothing is sent or
  // called.
  [[nodiscard]] virtual std::optional<Error> converse(const Request& request,
                                                      const std::optional<std::string>& token,
                                                      std::shared_ptr<AnswerHandler> handler) = 0;

  // Stops sending the request last given to converse(); close() follows or has been called. False
  // if certainly nothing of it has been sent.
  virtual bool stop_sending() = 0;

  // True if the next request may be given to it, as far as that is visible without sending: the
  // last answer is complete and the server will keep the connection open.
  [[nodiscard]] virtual bool is_reusable() = 0;

  virtual void close() = 0;

  // The trust and identity with which it was made; only a connection with the present ones is
  // reused. nullptr: without TLS.
  [[nodiscard]] virtual const std::shared_ptr<TlsContext>& tls() const = 0;
};

// Makes connections that have yet to be opened.
class ConnectionFactory {
 public:
  ConnectionFactory() = default;
  ConnectionFactory(const ConnectionFactory&) = delete;
  ConnectionFactory& operator=(const ConnectionFactory&) = delete;
  // All connections must have been closed; pending operations may still share some of them.
  virtual ~ConnectionFactory() = default;

  [[nodiscard]] virtual std::shared_ptr<Connection> make(std::shared_ptr<TlsContext> tls) = 0;
};

}  // namespace k8s::http
