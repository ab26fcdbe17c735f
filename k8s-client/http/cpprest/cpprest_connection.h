// A Connection on cpprestsdk's http_client, which opens it with the first request.
//
// Each has an http_client of its own and gives it one request at a time, so that there is at most
// one TCP connection. The state of that is known (connection_observer.h). The http_client works on
// cpprestsdk's thread; a Conversation passes its results to the loop.
#pragma once

#include "k8s-client/http/cpprest/answer_check.h"
#include "k8s-client/http/cpprest/connection_observer.h"
#include "k8s-client/http/cpprest/request_maker.h"
#include "k8s-client/http/cpprest/sdk.h"
#include "k8s-client/http/event_loop.h"
#include "k8s-client/http/pooled/connection.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace k8s::http {

class Conversation;

class CpprestConnection final : public Connection,
                                public std::enable_shared_from_this<CpprestConnection> {
 public:
  // `tls` is nullptr for a plain connection. All references must outlive the connection's use.
  CpprestConnection(EventLoop& loop, const Endpoint& endpoint, const RequestMaker& maker,
                    std::shared_ptr<TlsContext> tls,
                    std::chrono::milliseconds unacknowledged_limit);

  void open(std::chrono::milliseconds timeout, OnOpen done) override;
  [[nodiscard]] std::optional<Error> converse(const Request& request,
                                              const std::optional<std::string>& token,
                                              std::shared_ptr<AnswerHandler> handler) override;
  bool stop_sending() override;
  [[nodiscard]] bool is_reusable() override { return client_ && !handler_ && keep_alive_; }
  void close() override;
  [[nodiscard]] const std::shared_ptr<TlsContext>& tls() const override { return tls_; }

 private:
  friend class Conversation;

  [[nodiscard]] std::optional<Error> make_client();
  void watch_connecting();
  // The results of a conversation, on the loop.
  void on_head(Response head, HttpVersion version);
  void on_body(std::string_view bytes);
  void on_complete();
  void on_broken(const std::string& why);
  void fail(ErrorKind kind, const std::string& message);

  EventLoop& loop_;
  const Endpoint& endpoint_;
  const RequestMaker& maker_;
  std::shared_ptr<TlsContext> tls_;
  std::shared_ptr<ConnectionObserver> observer_;
  std::shared_ptr<sdk::http_client> client_;  // while it is open
  std::chrono::milliseconds connect_timeout_{};
  std::unique_ptr<Timer> connect_timer_;
  std::unique_ptr<Timer> opened_;  // reports that it is open
  std::shared_ptr<Conversation> conversation_;
  std::shared_ptr<AnswerHandler> handler_;  // of the conversation in progress
  bool any_answer_ = false;
  bool keep_alive_ = true;       // by the last answer
  bool never_connected_ = true;  // in the last conversation, for certain
};

}  // namespace k8s::http
