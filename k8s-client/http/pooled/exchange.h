// One request, from the call that registered it to its one final callback.
//
// An Exchange enforces the deadline, handles cancellation and decides what an outcome means (above
// all Error::may_have_acted). It waits in the transport's queue until it gets a place (a Place)
// with an open connection, writes, reads, and ends; a stream opens a connection of its own. Its end
// frees the place at once; the callback comes from the loop a moment later, so it is never called
// from within send(), cancel() or another callback.
#pragma once

#include "k8s-client/http/base/boost_asio.h"
#include "k8s-client/http/pooled/connection.h"
#include "k8s-client/http/pooled/connection_pool.h"
#include "k8s-client/http/transport.h"

#include <list>
#include <memory>
#include <optional>
#include <string>

namespace k8s::http {

class Exchange;
using ExchangeList = std::list<std::shared_ptr<Exchange>>;

// The identity with which a request was sent.
struct Identity {
  std::optional<std::string> token;
  std::shared_ptr<TlsContext> tls;
};

// What an exchange asks of its transport.
class ExchangeHost {
 public:
  ExchangeHost() = default;
  ExchangeHost(const ExchangeHost&) = delete;
  ExchangeHost& operator=(const ExchangeHost&) = delete;
  virtual ~ExchangeHost() = default;

  // A new connection, not open yet, with the present credentials.
  [[nodiscard]] virtual Result<std::shared_ptr<Connection>> new_connection() = 0;
  [[nodiscard]] virtual std::chrono::milliseconds connect_timeout() const = 0;
  // The present bearer token.
  [[nodiscard]] virtual Result<std::optional<std::string>> bearer_token() = 0;
  // The server answered 401 to these because it does not know them.
  virtual void unauthorized(const Identity& identity) = 0;
  // The exchange is about to make its final callback, and is removed from the host.
  virtual void forget(Exchange& exchange) = 0;
  // "https://HOST:PORT", for messages.
  [[nodiscard]] virtual const std::string& server() const = 0;
  [[nodiscard]] virtual bool awaits_credentials() const = 0;
  // Requests wait for the rate limiter.
  [[nodiscard]] virtual bool is_rate_limited() const = 0;
};

class Exchange : public Call, public AnswerHandler, public std::enable_shared_from_this<Exchange> {
 public:
  Exchange(asio::io_context& context, ExchangeHost& host, Request request);

  // Starts the deadline. Called once, when registered.
  void start();
  // A connection is being opened so that it can begin.
  void set_connecting() { connecting_ = true; }
  // Whether it still waits for that connection, or for another one that becomes free earlier.
  [[nodiscard]] bool is_connecting() const { return connecting_ && !ended_; }
  // Continues with an open connection, used before or new; or without a connection, and opens one.
  // Called once.
  void begin(Place place, bool used_before);
  void cancel() override;
  // Ends it before it has begun.
  void reject(const Error& error) { end(failure(error.kind, error.message)); }
  // The transport is being destroyed: kCancelled. From here on the host is not called. The final
  // callback is made before this returns, or by the loop if the exchange was only just registered.
  void abandon();
  void abandon_soon();

  [[nodiscard]] bool ended() const { return ended_; }

  // Its place in the host's list; used only by the host.
  ExchangeList* list = nullptr;
  ExchangeList::iterator position;

 protected:
  // The final callback; nullopt: the answer is complete.
  virtual void deliver(std::optional<Error> error) = 0;

  // AnswerHandler's.
  void on_complete() override;
  void on_broken(Error error, bool any_answer) override;

  void end(std::optional<Error> error);
  void note_status(const Response& head);
  // Ends the deadline, because the head of the answer has come. From now on idle_limit applies;
  // zero: no limit.
  void watch_silence();
  void note_activity() { last_activity_ = std::chrono::steady_clock::now(); }
  [[nodiscard]] const Request& request() const { return request_; }
  [[nodiscard]] Error failure(ErrorKind kind, const std::string& why);

 private:
  void open();
  void talk();
  void arm(std::chrono::steady_clock::time_point when);
  void on_timer();
  void finish();
  void finish_soon();
  void detach();
  // For the message of a missed deadline.
  [[nodiscard]] const char* stage();
  // False if certainly nothing has been sent, nor will be.
  [[nodiscard]] bool stop_sending();
  [[nodiscard]] bool is_too_late() const;
  void end_too_late();

  asio::io_context& context_;
  ExchangeHost* host_;
  Request request_;
  Place place_;
  Identity identity_;
  AsioTimer timer_;
  std::chrono::steady_clock::time_point last_activity_;
  std::optional<Error> outcome_;
  bool connecting_ = false;
  bool conversing_ = false;
  bool watching_silence_ = false;
  bool reused_ = false;    // the connection has served another request before
  bool ended_ = false;     // the outcome is final; the callback may still come
  bool finished_ = false;  // the callback has been made
};

// A request answered as a whole.
class SendExchange final : public Exchange {
 public:
  SendExchange(asio::io_context& context, ExchangeHost& host, Request request,
               Transport::OnResponse done)
      : Exchange(context, host, std::move(request)), done_(std::move(done)) {}

 private:
  void on_head(Response head) override;
  void on_body(std::string_view bytes) override;
  void deliver(std::optional<Error> error) override;
  void refuse_body();

  Transport::OnResponse done_;
  Response response_;
};

// A request with an answer that is passed on as it comes.
class StreamExchange final : public Exchange {
 public:
  StreamExchange(asio::io_context& context, ExchangeHost& host, Request request,
                 StreamHandler handler)
      : Exchange(context, host, std::move(request)),
        handler_(std::make_shared<StreamHandler>(std::move(handler))) {}

 private:
  void on_head(Response head) override;
  void on_body(std::string_view bytes) override;
  void deliver(std::optional<Error> error) override;

  // Shared, so that a callback that ends the stream is not destroyed while it runs.
  std::shared_ptr<StreamHandler> handler_;
};

}  // namespace k8s::http
