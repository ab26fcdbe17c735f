#include "tests/support/tls_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <csignal>
#include <cstdlib>
#include <utility>

namespace tests {
namespace {

void must_work(bool condition) {
  if (!condition) std::abort();  // the machine cannot do what the test stands on
}

struct FreeSsl {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};

std::unique_ptr<BIO, FreeSsl> reading(const std::string& text) {
  return std::unique_ptr<BIO, FreeSsl>(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

std::unique_ptr<X509, FreeSsl> certificate_of(const std::string& pem) {
  return std::unique_ptr<X509, FreeSsl>(
      PEM_read_bio_X509(reading(pem).get(), nullptr, nullptr, nullptr));
}

// Writing to a connection that the client has closed must be an error, not a signal.
void block_sigpipe() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

// 0 when the head is not complete yet, otherwise its size with the empty line.
std::size_t head_size(const std::string& bytes) {
  const auto end = bytes.find("\r\n\r\n");
  return end == std::string::npos ? 0 : end + 4;
}

ReceivedRequest parse_head(const std::string& head) {
  ReceivedRequest request;
  const auto line_end = head.find("\r\n");
  const auto first_space = head.find(' ');
  const auto second_space = head.find(' ', first_space + 1);
  request.method = head.substr(0, first_space);
  request.target = head.substr(first_space + 1, second_space - first_space - 1);
  for (auto at = line_end + 2; at + 2 < head.size();) {
    const auto end = head.find("\r\n", at);
    const auto colon = head.find(':', at);
    const auto value = head.find_first_not_of(' ', colon + 1);
    std::string name = head.substr(at, colon - at);
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    request.headers[name] = head.substr(value, end - value);
    at = end + 2;
  }
  return request;
}

}  // namespace

void Gate::open() {
  const std::lock_guard lock(mutex_);
  open_ = true;
  opened_.notify_all();
}

bool Gate::wait(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  return opened_.wait(lock, stop, [this] { return open_; });
}

std::string ReceivedRequest::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? std::string() : found->second;
}

struct TlsServer::Tls {
  std::unique_ptr<SSL_CTX, FreeSsl> context;
};

struct ServerConnection::Session {
  std::unique_ptr<SSL, FreeSsl> ssl;
};

TlsServer::TlsServer(ServerOptions options, Script script)
    : options_(std::move(options)), script_(std::move(script)), tls_(std::make_unique<Tls>()) {
  if (options_.tls) {
    tls_->context.reset(SSL_CTX_new(TLS_server_method()));
    SSL_CTX* context = tls_->context.get();
    const auto certificate = certificate_of(options_.identity.certificate_pem);
    const std::unique_ptr<EVP_PKEY, FreeSsl> key(PEM_read_bio_PrivateKey(
        reading(options_.identity.key_pem).get(), nullptr, nullptr, nullptr));
    must_work(SSL_CTX_use_certificate(context, certificate.get()) == 1);
    must_work(SSL_CTX_use_PrivateKey(context, key.get()) == 1);
    if (!options_.client_ca_pem.empty()) {
      const auto authority = certificate_of(options_.client_ca_pem);
      must_work(X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority.get()) == 1);
      SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    }
  }
  listening_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  must_work(::bind(listening_, reinterpret_cast<sockaddr*>(&address), size) == 0);
  must_work(::listen(listening_, SOMAXCONN) == 0);
  must_work(::getsockname(listening_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  port_ = ntohs(address.sin_port);
  accepting_ = std::jthread([this](const std::stop_token& stop) { accept_connections(stop); });
}

TlsServer::~TlsServer() {
  accepting_.request_stop();
  ::shutdown(listening_, SHUT_RDWR);
  accepting_.join();
  ::close(listening_);
  {
    const std::lock_guard lock(mutex_);
    for (const int socket : sockets_) ::shutdown(socket, SHUT_RDWR);
  }
  serving_.clear();  // asks each to stop, and waits for it
}

void TlsServer::accept_connections(const std::stop_token& stop) {
  while (true) {
    const int socket = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0 || stop.stop_requested()) {
      if (socket >= 0) ::close(socket);
      return;
    }
    int number = 0;
    note([&](Counts& counts) {
      number = ++counts.accepted;
      counts.open_at_most = std::max(counts.open_at_most, ++counts.open_now);
      sockets_.push_back(socket);
      serving_.emplace_back([this, socket, number](const std::stop_token& stopped) {
        serve(socket, number, stopped);
      });
    });
  }
}

void TlsServer::serve(int socket, int number, const std::stop_token& stop) {
  block_sigpipe();
  {
    ServerConnection connection(*this, socket, number, stop);
    script_(connection);
  }
  note([&](Counts& counts) { --counts.open_now; });
}

void TlsServer::note(const std::function<void(Counts&)>& change) {
  {
    const std::lock_guard lock(mutex_);
    change(counts_);
  }
  if (options_.changed) options_.changed();
}

std::vector<ReceivedRequest> TlsServer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

int TlsServer::accepted() const {
  const std::lock_guard lock(mutex_);
  return counts_.accepted;
}

int TlsServer::open_now() const {
  const std::lock_guard lock(mutex_);
  return counts_.open_now;
}

int TlsServer::open_at_most() const {
  const std::lock_guard lock(mutex_);
  return counts_.open_at_most;
}

int TlsServer::closed_by_client() const {
  const std::lock_guard lock(mutex_);
  return counts_.closed_by_client;
}

ServerConnection::ServerConnection(TlsServer& server, int socket, int number, std::stop_token stop)
    : server_(server),
      socket_(socket),
      number_(number),
      stop_(std::move(stop)),
      session_(std::make_unique<Session>()) {}

ServerConnection::~ServerConnection() {
  if (socket_ < 0) return;
  if (session_->ssl) SSL_shutdown(session_->ssl.get());
  drop();
}

void ServerConnection::drop() {
  if (socket_ < 0) return;
  // Within the lock, so that the server never shuts down a descriptor that has been reused by then.
  const std::lock_guard lock(server_.mutex_);
  std::erase(server_.sockets_, socket_);
  ::close(std::exchange(socket_, -1));
}

void ServerConnection::reset() {
  const linger now = {.l_onoff = 1, .l_linger = 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
  drop();
}

bool ServerConnection::handshake() {
  if (!server_.tls_->context) return true;
  session_->ssl.reset(SSL_new(server_.tls_->context.get()));
  SSL_set_fd(session_->ssl.get(), socket_);
  if (SSL_accept(session_->ssl.get()) == 1) return true;
  ERR_clear_error();
  // The alert must be read before the socket goes, or an RST may overtake it.
  ::shutdown(socket_, SHUT_WR);
  std::array<char, 1024> rest{};
  while (::read(socket_, rest.data(), rest.size()) > 0) continue;
  return false;
}

std::string ServerConnection::server_name() const {
  if (!session_->ssl) return {};
  const char* name = SSL_get_servername(session_->ssl.get(), TLSEXT_NAMETYPE_host_name);
  return name == nullptr ? std::string() : std::string(name);
}

std::string ServerConnection::client_name() const {
  if (!session_->ssl) return {};
  const std::unique_ptr<X509, FreeSsl> certificate(SSL_get1_peer_certificate(session_->ssl.get()));
  if (!certificate) return {};
  std::array<char, 256> name{};
  X509_NAME_get_text_by_NID(X509_get_subject_name(certificate.get()), NID_commonName, name.data(),
                            static_cast<int>(name.size()));
  return name.data();
}

int ServerConnection::read_some(char* into, int size) {
  if (socket_ < 0) return 0;
  if (!session_->ssl) return static_cast<int>(::read(socket_, into, static_cast<size_t>(size)));
  const int got = SSL_read(session_->ssl.get(), into, size);
  if (got <= 0) ERR_clear_error();
  return got;
}

std::optional<ReceivedRequest> ServerConnection::read_request() {
  std::array<char, 16384> chunk{};
  std::size_t head = 0;
  std::size_t wanted = 0;
  ReceivedRequest request;
  while (head == 0 || buffered_.size() < wanted) {
    if (head == 0 && (head = head_size(buffered_)) > 0) {
      request = parse_head(buffered_.substr(0, head));
      const std::string length = request.header("content-length");
      wanted = head + (length.empty() ? 0 : std::stoul(length));
      continue;
    }
    const int got = read_some(chunk.data(), static_cast<int>(chunk.size()));
    if (got <= 0) {
      if (!stopping()) server_.note([](TlsServer::Counts& counts) { ++counts.closed_by_client; });
      return std::nullopt;
    }
    buffered_.append(chunk.data(), static_cast<std::size_t>(got));
  }
  request.connection = number_;
  request.body = buffered_.substr(head, wanted - head);
  buffered_.erase(0, wanted);
  server_.note([&](TlsServer::Counts&) { server_.requests_.push_back(request); });
  return request;
}

bool ServerConnection::send(std::string_view bytes) {
  while (!bytes.empty()) {
    if (socket_ < 0) return false;
    const auto size = std::min<std::size_t>(bytes.size(), 1 << 20);
    const long sent = session_->ssl
                          ? SSL_write(session_->ssl.get(), bytes.data(), static_cast<int>(size))
                          : ::send(socket_, bytes.data(), size, MSG_NOSIGNAL);
    if (sent <= 0) {
      ERR_clear_error();
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

void ServerConnection::give_up_sending_after(std::chrono::milliseconds patience) {
  const timeval limit = {.tv_sec = patience.count() / 1000,
                         .tv_usec = patience.count() % 1000 * 1000};
  ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
}

void ServerConnection::wait_for_close() {
  std::array<char, 1024> rest{};
  while (read_some(rest.data(), static_cast<int>(rest.size())) > 0) continue;
}

std::string answer(int status, std::string_view headers, std::string_view body) {
  std::string text = "HTTP/1.1 " + std::to_string(status) + " Status\r\n";
  text.append(headers);
  text += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n";
  return text.append(body);
}

std::string ok(std::string_view body) { return answer(200, "", body); }

Script answering(std::function<std::string(const ReceivedRequest&)> handler) {
  return [handler = std::move(handler)](ServerConnection& connection) {
    if (!connection.handshake()) return;
    while (const auto request = connection.read_request()) {
      if (!connection.send(handler(*request))) return;
    }
  };
}

}  // namespace tests
