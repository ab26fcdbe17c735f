// A Connection on Asio's sockets, OpenSSL and Beast's parser.
//
// It only moves bytes, without deadlines, pools or credentials; answer_reader.h interprets the
// bytes.
#pragma once

#include "k8s-client/http/asio/answer_reader.h"
#include "k8s-client/http/asio/byte_stream.h"
#include "k8s-client/http/asio/connector.h"
#include "k8s-client/http/asio/request_writer.h"
#include "k8s-client/http/pooled/connection.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace k8s::http {

class AsioConnection final : public Connection,
                             public std::enable_shared_from_this<AsioConnection> {
 public:
  // `tls` is nullptr for a plain connection. `endpoint` and `writer` must outlive the connection.
  AsioConnection(asio::io_context& context, const Endpoint& endpoint, const RequestWriter& writer,
                 std::shared_ptr<TlsContext> tls, std::chrono::milliseconds unacknowledged_limit);

  // Resolves the name, connects to the first of its addresses that answers and shakes hands.
  void open(std::chrono::milliseconds timeout, OnOpen done) override;
  [[nodiscard]] std::optional<Error> converse(const Request& request,
                                              const std::optional<std::string>& token,
                                              std::shared_ptr<AnswerHandler> handler) override;
  bool stop_sending() override { return may_have_sent_; }
  // Also detects whether the server has closed it, or sent anything, since. One system call.
  [[nodiscard]] bool is_reusable() override;
  void close() override;
  [[nodiscard]] const std::shared_ptr<TlsContext>& tls() const override { return tls_; }

 private:
  void resolve();
  void connect(std::vector<Connector::Address> addresses);
  void on_connected(const ErrorCode& error);
  void on_handshake(const ErrorCode& error);
  void finish_open(std::optional<Error> error);
  [[nodiscard]] std::string address() const;  // "HOST:PORT"

  void read();
  void on_read(const ErrorCode& error, std::size_t size);
  void on_end_of_bytes(const ErrorCode& error);
  void on_complete();
  void fail(const ErrorCode& error, const std::string& what);

  const Endpoint& endpoint_;
  const RequestWriter& writer_;
  std::shared_ptr<TlsContext> tls_;
  const std::chrono::milliseconds unacknowledged_limit_;  // zero: the kernel's own
  Resolver resolver_;
  AsioTimer open_timer_;
  Connector::Clock::time_point open_until_{};
  std::shared_ptr<Connector> connector_;  // while it connects
  std::unique_ptr<ByteStream> stream_;
  OnOpen on_open_;
  bool open_ = false;
  bool used_ = false;  // for any request

  std::string outgoing_;  // keeps the capacity of earlier ones
  bool may_have_sent_ = false;
  AnswerReader reader_;
  std::shared_ptr<AnswerHandler> handler_;  // of the conversation in progress
};

}  // namespace k8s::http
