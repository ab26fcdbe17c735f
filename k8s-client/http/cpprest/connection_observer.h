// What http_client does not report about its TCP connection, and two things that it must not do.
//
// An http_client here has at most one connection at a time, opened with the request that needs it.
// cpprestsdk and OpenSSL call the observer: it learns when the TLS handshake is done, and so
// whether anything of a request can have been sent; it sets the trust and identity of the
// connection; and it prevents a request from being sent over a connection that the server has
// closed, or a second time (see cpprest_transport.h). The hooks run on cpprestsdk's thread.
//
// If an address of the server's name refuses, http_client replaces the connection by one to the
// next address. It calls set_up() for that one, but not before_sending(). So the server's name is
// requested and verified in OpenSSL's own callbacks, which every handshake calls.
#pragma once

#include "k8s-client/boot_clock.h"
#include "k8s-client/http/base/tls_context.h"
#include "k8s-client/http/cpprest/sdk.h"
#include "k8s-client/http/endpoint.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

namespace k8s::http {

// Thrown to cpprestsdk to prevent a sending.
class NotSent : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class ConnectionObserver {
 public:
  ConnectionObserver(const Endpoint& endpoint, std::shared_ptr<TlsContext> tls,
                     std::chrono::milliseconds unacknowledged_limit);
  ConnectionObserver(const ConnectionObserver&) = delete;
  ConnectionObserver& operator=(const ConnectionObserver&) = delete;
  ~ConnectionObserver() = default;

  // The next request is about to be passed to http_client. After `send_by` it is not sent; over a
  // new connection without TLS only http_client can see that moment, and the request is sent.
  void expect_request(std::optional<BootClock::time_point> send_by);

  // http_client is about to send a request over `handle`, a PlainSocket or a TlsSocket. Throws
  // NotSent.
  void before_sending(void* handle);
  // A new connection's TLS is being set up.
  void set_up(boost::asio::ssl::context& context);

  // The following may be called from any thread.

  // Prevents further sending. True if something of the request may have been sent; without TLS that
  // is not visible, and it is true as soon as http_client has begun.
  bool stop();
  // False until http_client has begun with the request: its thread may be busy with others.
  [[nodiscard]] bool has_begun() const { return stage_ != Stage::kIdle; }
  // While it has not been stopped.
  [[nodiscard]] bool is_connecting() const { return stage_ == Stage::kConnecting; }
  [[nodiscard]] bool is_shaking_hands() const { return stage_ == Stage::kHandshake; }
  // Why TLS failed, as text: the certificate that was refused, or the server's alert. Empty: it did
  // not fail, or the reason is not known.
  [[nodiscard]] std::string tls_failure() const;
  [[nodiscard]] bool got_alert() const { return alert_ != 0; }

 private:
  enum class Stage { kIdle, kConnecting, kHandshake, kSending, kStopped };

  // False if it is not in state `from`, because it was stopped or has left that state before.
  bool advance(Stage from, Stage to) { return stage_.compare_exchange_strong(from, to); }

  [[nodiscard]] bool is_too_late() const;

  static int verify(X509_STORE_CTX* store, void* observer);
  static void on_tls_event(const SSL* ssl, int where, int value);
  void on_handshake_start(SSL* ssl);
  void on_handshake_done(SSL* ssl);
  void prepare_new(void* handle);
  void check_reused(void* handle);
  void limit_silence();

  const std::string name_;  // that the server must prove
  const std::shared_ptr<TlsContext> tls_;
  const std::chrono::milliseconds unacknowledged_limit_;
  std::optional<BootClock::time_point> send_by_;  // of the request being sent
  // The socket of the connection; null: it is being set up, or has replaced another one and carries
  // its first request.
  sdk::PlainSocket* socket_ = nullptr;
  bool silence_is_limited_ = false;  // on that socket
  std::atomic<Stage> stage_ = Stage::kIdle;
  std::atomic<bool> may_have_sent_ = false;
  std::atomic<bool> expecting_ = false;
  std::atomic<long> certificate_error_ = 0;  // X509_V_OK
  std::atomic<int> alert_ = 0;               // as OpenSSL encodes it: level and description
};

}  // namespace k8s::http
