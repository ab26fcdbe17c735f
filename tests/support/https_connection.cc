#include "tests/support/https_connection.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace tests {

namespace {

void must(bool condition, const char* what) {
  if (!condition) throw std::runtime_error(std::string("HttpsConnection: ") + what);
}

struct FreeTls {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};

}  // namespace

struct HttpsConnection::Parts {
  ~Parts() { ::close(socket); }
  int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::unique_ptr<SSL_CTX, FreeTls> context{SSL_CTX_new(TLS_client_method())};
  std::unique_ptr<SSL, FreeTls> ssl{SSL_new(context.get())};
};

HttpsConnection::HttpsConnection(std::uint16_t port, int receive_buffer)
    : parts_(std::make_unique<Parts>()) {
  if (receive_buffer > 0) {
    must(setsockopt(parts_->socket, SOL_SOCKET, SO_RCVBUF, &receive_buffer,
                    sizeof(receive_buffer)) == 0,
         "receive buffer");
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  must(::connect(parts_->socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0,
       "connect");
  must(SSL_set_fd(parts_->ssl.get(), parts_->socket) == 1, "set_fd");
  must(SSL_connect(parts_->ssl.get()) == 1, "handshake");
}

HttpsConnection::HttpsConnection(HttpsConnection&&) noexcept = default;
HttpsConnection& HttpsConnection::operator=(HttpsConnection&&) noexcept = default;
HttpsConnection::~HttpsConnection() = default;

void HttpsConnection::send(const std::string& bytes) {
  must(SSL_write(parts_->ssl.get(), bytes.data(), static_cast<int>(bytes.size())) > 0, "send");
}

std::string HttpsConnection::read(std::size_t size) {
  std::string answer;
  std::array<char, 16 * 1024> chunk{};
  while (answer.size() < size) {
    const std::size_t most = std::min(chunk.size(), size - answer.size());
    const int n = SSL_read(parts_->ssl.get(), chunk.data(), static_cast<int>(most));
    if (n <= 0) break;
    answer.append(chunk.data(), static_cast<std::size_t>(n));
  }
  return answer;
}

std::string HttpsConnection::read_all() { return read(std::string::npos); }

std::string HttpsConnection::exchange(const std::string& request) {
  send(request);
  return read_all();
}

std::string HttpsConnection::certificate() const {
  const std::unique_ptr<BIO, FreeTls> bio(BIO_new(BIO_s_mem()));
  must(PEM_write_bio_X509(bio.get(), SSL_get0_peer_certificate(parts_->ssl.get())) == 1, "PEM");
  char* text = nullptr;
  const long size = BIO_ctrl(bio.get(), BIO_CTRL_INFO, 0, &text);
  return {text, static_cast<std::size_t>(size)};
}

}  // namespace tests
