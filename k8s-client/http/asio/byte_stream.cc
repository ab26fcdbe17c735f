#include "k8s-client/http/asio/byte_stream.h"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <utility>

namespace k8s::http {
namespace {

class PlainStream final : public ByteStream {
 public:
  explicit PlainStream(asio::io_context& context) : socket_(context) {}

  Socket& socket() override { return socket_; }
  void handshake(const std::string&, OnDone done) override {
    asio::post(socket_.get_executor(), [done = std::move(done)] { done(ErrorCode()); });
  }
  std::string handshake_failure() override { return {}; }
  void read_some(asio::mutable_buffer into, OnRead done) override {
    socket_.async_read_some(into, std::move(done));
  }
  void write(asio::const_buffer bytes, OnDone done) override {
    asio::async_write(socket_, bytes,
                      [done = std::move(done)](ErrorCode error, std::size_t) { done(error); });
  }
  bool has_unread() override { return false; }

 private:
  Socket socket_;
};

class TlsStream final : public ByteStream {
 public:
  TlsStream(asio::io_context& context, std::shared_ptr<TlsContext> tls)
      : tls_(std::move(tls)), stream_(context, tls_->context) {}

  Socket& socket() override { return stream_.next_layer(); }
  void handshake(const std::string& name, OnDone done) override;
  std::string handshake_failure() override;
  void read_some(asio::mutable_buffer into, OnRead done) override {
    stream_.async_read_some(into, std::move(done));
  }
  void write(asio::const_buffer bytes, OnDone done) override {
    asio::async_write(stream_, bytes,
                      [done = std::move(done)](ErrorCode error, std::size_t) { done(error); });
  }
  bool has_unread() override {
    SSL* ssl = stream_.native_handle();
    return SSL_has_pending(ssl) == 1 || BIO_ctrl_pending(SSL_get_rbio(ssl)) > 0;
  }

 private:
  std::shared_ptr<TlsContext> tls_;
  asio::ssl::stream<Socket> stream_;
};

// What the macro SSL_set_tlsext_host_name does, without its C cast. The name is copied.
bool ask_for_name(SSL* ssl, std::string name) {
  return SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name.data()) == 1;
}

// Arranges that the handshake fails unless the certificate is for `name`. False: not a usable name.
bool expect_name(SSL* ssl, const std::string& name, bool verify) {
  ErrorCode not_an_address;
  asio::ip::make_address(name, not_an_address);
  const bool is_name = not_an_address.failed();
  // SNI is for names alone (RFC 6066 §3).
  if (is_name && !ask_for_name(ssl, name)) return false;
  if (!verify) return true;
  X509_VERIFY_PARAM* param = SSL_get0_param(ssl);
  if (!is_name) return X509_VERIFY_PARAM_set1_ip_asc(param, name.c_str()) == 1;
  X509_VERIFY_PARAM_set_hostflags(
      param, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  return X509_VERIFY_PARAM_set1_host(param, name.c_str(), name.size()) == 1;
}

void TlsStream::handshake(const std::string& name, OnDone done) {
  if (!expect_name(stream_.native_handle(), name, tls_->verify_server)) {
    asio::post(socket().get_executor(), [done = std::move(done)] {
      done(ErrorCode(static_cast<int>(boost::system::errc::invalid_argument),
                     boost::system::generic_category()));
    });
    return;
  }
  stream_.async_handshake(asio::ssl::stream_base::client, std::move(done));
}

std::string TlsStream::handshake_failure() {
  const long result = SSL_get_verify_result(stream_.native_handle());
  if (result == X509_V_OK) return {};
  return std::string("the server's certificate is not accepted: ") +
         X509_verify_cert_error_string(result);
}

}  // namespace

void ByteStream::close() {
  ErrorCode ignored;
  socket().close(ignored);
}

std::unique_ptr<ByteStream> make_plain_stream(asio::io_context& context) {
  return std::make_unique<PlainStream>(context);
}

std::unique_ptr<ByteStream> make_tls_stream(asio::io_context& context,
                                            std::shared_ptr<TlsContext> tls) {
  return std::make_unique<TlsStream>(context, std::move(tls));
}

bool is_tls_error(const ErrorCode& error) {
  return error.category() == asio::error::get_ssl_category();
}

}  // namespace k8s::http
