// One connection to the server: opened once, then one request and answer after the other.
//
// It knows HTTP framing and nothing of deadlines, pools or credentials. While an answer's bytes are
// being handled nothing more is read, so a slow handler holds the server back. Everything is called
// on the loop; callbacks come from the loop and, after close(), not at all.
#pragma once

#include "k8s-client/error.h"
#include "k8s-client/http/asio/byte_stream.h"
#include "k8s-client/http/asio/connector.h"
#include "k8s-client/http/asio/response_parser.h"

#include <boost/beast/core/flat_buffer.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace k8s::http {

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  // nullopt: open. An Error of kConnect or kTls otherwise.
  using OnOpen = std::function<void(std::optional<Error>)>;

  // `tls` is nullptr for a plain connection. `endpoint` must outlive the connection.
  Connection(asio::io_context& context, const Endpoint& endpoint, std::shared_ptr<TlsContext> tls);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() = default;

  // Resolves the name, connects to the first of its addresses that answers and shakes hands, all
  // within `timeout`.
  void open(std::chrono::milliseconds timeout, OnOpen done);

  // Where to put the request before converse(); empty, with the capacity of earlier ones.
  [[nodiscard]] std::string& outgoing() { return outgoing_; }

  // Writes outgoing() and reads the answer. One at a time.
  void converse(std::shared_ptr<AnswerHandler> handler);

  // True if the next request may be written to it, as far as can be told without writing: the last
  // answer is complete, the server meant to keep it open and has neither closed it nor sent
  // anything since. One system call.
  [[nodiscard]] bool is_reusable();

  void close();

  // With which trust and identity it was made; a reused connection must be of the present ones.
  [[nodiscard]] const std::shared_ptr<TlsContext>& tls() const { return tls_; }

 private:
  void resolve();
  void connect(std::vector<Connector::Address> addresses);
  void on_connected(const ErrorCode& error);
  void on_handshake(const ErrorCode& error);
  void finish_open(std::optional<Error> error);
  [[nodiscard]] const std::string& server_name() const;
  [[nodiscard]] std::string address() const;  // "HOST:PORT"

  void read();
  void on_read(const ErrorCode& error, std::size_t size);
  // True if the answer is complete or broken: no more is to be read for it.
  bool parse();
  void on_end_of_bytes(const ErrorCode& error);
  void on_message_end();
  void fail(const ErrorCode& error, const std::string& what);

  const Endpoint& endpoint_;
  std::shared_ptr<TlsContext> tls_;
  Resolver resolver_;
  AsioTimer open_timer_;
  Connector::Clock::time_point open_until_{};
  std::shared_ptr<Connector> connector_;  // while it connects
  std::unique_ptr<ByteStream> stream_;
  OnOpen on_open_;
  bool open_ = false;
  bool keep_alive_ = true;  // as of the last answer

  std::string outgoing_;
  boost::beast::flat_buffer incoming_;
  std::shared_ptr<AnswerHandler> handler_;  // of the conversation in progress
  std::optional<ResponseParser> parser_;
  bool any_answer_ = false;
};

// "HOST:PORT", with brackets around an IPv6 address.
[[nodiscard]] std::string host_and_port(const Endpoint& endpoint);

}  // namespace k8s::http
