#include "k8s-client/http/asio/byte_stream.h"

#include <boost/asio/post.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <openssl/bio.h>
#include <openssl/ssl.h>

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

void TlsStream::handshake(const std::string& name, OnDone done) {
  SSL* ssl = stream_.native_handle();
  const bool verifiable = !tls_->verify_server || verify_server_name(SSL_get0_param(ssl), name);
  if (!verifiable || !ask_for_server_name(ssl, name)) {
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
