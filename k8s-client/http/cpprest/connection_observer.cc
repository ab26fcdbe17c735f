#include "k8s-client/http/cpprest/connection_observer.h"

#include "k8s-client/http/base/keep_alive.h"

#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace k8s::http {
namespace {

constexpr const char* kStopped = "given up";
constexpr const char* kTooLate = "too late to be sent";

// The index at which an SSL_CTX stores its observer.
int observer_index() {
  static const int index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

// Replaces http_client's own check, which would accept what OpenSSL refuses.
int as_found(int ok, X509_STORE_CTX*) { return ok; }

// True if there is anything to read, including the end, that was not requested.
bool has_unexpected(sdk::PlainSocket& socket) {
  char byte = 0;
  const auto got = ::recv(socket.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got >= 0 || errno != EAGAIN;
}

}  // namespace

ConnectionObserver::ConnectionObserver(const Endpoint& endpoint, std::shared_ptr<TlsContext> tls,
                                       std::chrono::milliseconds unacknowledged_limit)
    : name_(endpoint.verified_name()),
      tls_(std::move(tls)),
      unacknowledged_limit_(unacknowledged_limit) {}

void ConnectionObserver::expect_request(std::optional<BootClock::time_point> send_by) {
  send_by_ = send_by;
  alert_ = 0;
  certificate_error_ = X509_V_OK;
  may_have_sent_ = false;
  stage_ = Stage::kIdle;
  expecting_ = true;
}

bool ConnectionObserver::stop() {
  if (stage_.exchange(Stage::kStopped) == Stage::kSending) may_have_sent_ = true;
  return may_have_sent_;
}

void ConnectionObserver::before_sending(void* handle) {
  // The request was sent before; cpprestsdk has opened a new connection to send it again.
  if (!expecting_.exchange(false)) throw NotSent("closed by the server before its answer");
  socket_ = tls_ ? &static_cast<sdk::TlsSocket*>(handle)->next_layer()
                 : static_cast<sdk::PlainSocket*>(handle);
  socket_->is_open() ? check_reused(handle) : prepare_new(handle);
}

void ConnectionObserver::prepare_new(void* handle) {
  if (!advance(Stage::kIdle, tls_ ? Stage::kConnecting : Stage::kSending)) throw NotSent(kStopped);
  if (!tls_) return;
  SSL* ssl = static_cast<sdk::TlsSocket*>(handle)->native_handle();
  if (!ask_for_server_name(ssl, name_)) {
    throw NotSent("\"" + name_ + "\" is not the name of a server");
  }
}

void ConnectionObserver::check_reused(void* handle) {
  bool stale = has_unexpected(*socket_);
  if (tls_) {
    SSL* ssl = static_cast<sdk::TlsSocket*>(handle)->native_handle();
    stale = stale || SSL_has_pending(ssl) == 1 || BIO_ctrl_pending(SSL_get_rbio(ssl)) > 0;
    limit_silence();
  }
  if (stale) throw NotSent("closed by the server meanwhile");
  if (is_too_late()) throw NotSent(kTooLate);
  if (!advance(Stage::kIdle, Stage::kSending)) throw NotSent(kStopped);
}

void ConnectionObserver::limit_silence() {
  if (std::exchange(silence_is_limited_, true)) return;
  enable_keep_alive(*socket_);
  limit_unacknowledged(*socket_, unacknowledged_limit_);
}

void ConnectionObserver::set_up(boost::asio::ssl::context& context) {
  socket_ = nullptr;
  silence_is_limited_ = false;
  SSL_CTX* native = context.native_handle();
  copy_tls_context(*tls_, native);
  SSL_CTX_set_cert_verify_callback(native, &ConnectionObserver::verify, this);
  SSL_CTX_set_ex_data(native, observer_index(), this);
  SSL_CTX_set_info_callback(native, &ConnectionObserver::on_tls_event);
}

int ConnectionObserver::verify(X509_STORE_CTX* store, void* observer) {
  auto* self = static_cast<ConnectionObserver*>(observer);
  X509_STORE_CTX_set_verify_cb(store, as_found);
  const bool verifiable = !self->tls_->verify_server ||
                          verify_server_name(X509_STORE_CTX_get0_param(store), self->name_);
  if (!verifiable) X509_STORE_CTX_set_error(store, X509_V_ERR_HOSTNAME_MISMATCH);
  const int ok = verifiable ? X509_verify_cert(store) : 0;
  self->certificate_error_ = X509_STORE_CTX_get_error(store);
  return ok;
}

void ConnectionObserver::on_tls_event(const SSL* told, int where, int value) {
  auto* ssl = const_cast<SSL*>(told);  // OpenSSL has no other type for this callback argument
  auto* self =
      static_cast<ConnectionObserver*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), observer_index()));
  constexpr int kAlertRead = SSL_CB_READ_ALERT;
  if ((where & SSL_CB_HANDSHAKE_START) != 0) self->on_handshake_start(ssl);
  if ((where & SSL_CB_HANDSHAKE_DONE) != 0) self->on_handshake_done(ssl);
  const bool farewell = (value & 0xff) == SSL_AD_CLOSE_NOTIFY;
  if ((where & kAlertRead) == kAlertRead && !farewell) self->alert_ = value;
}

// Only the first handshake counts: TLS 1.3 sends further handshake messages later.
void ConnectionObserver::on_handshake_start(SSL* ssl) {
  if (!advance(Stage::kConnecting, Stage::kHandshake)) return;
  if (socket_ != nullptr) return limit_silence();
  // This connection has replaced the one for which prepare_new() set the name. Setting it succeeded
  // there, so it succeeds here.
  static_cast<void>(ask_for_server_name(ssl, name_));
}

// The request is sent next, unless it has been given up or is too late: then the connection is
// marked as closed for OpenSSL, which writes nothing more to it.
void ConnectionObserver::on_handshake_done(SSL* ssl) {
  if (is_too_late()) advance(Stage::kHandshake, Stage::kStopped);
  if (advance(Stage::kHandshake, Stage::kSending) || stage_ != Stage::kStopped) return;
  SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
}

bool ConnectionObserver::is_too_late() const { return send_by_ && BootClock::now() > *send_by_; }

std::string ConnectionObserver::tls_failure() const {
  if (certificate_error_ != X509_V_OK) {
    return std::string("the server's certificate is not accepted: ") +
           X509_verify_cert_error_string(certificate_error_);
  }
  if (alert_ == 0) return {};
  return std::string("the server says: ") + SSL_alert_desc_string_long(alert_);
}

}  // namespace k8s::http
