#include "scheduler/server/http_server.h"

#include "k8s-client/http/asio/asio_event_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <deque>
#include <optional>
#include <utility>
// After Asio's wrapper, which orders includes.
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>

namespace sched::server {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;
using Tcp = asio::ip::tcp;

constexpr std::size_t kMaxConnections = 64;
constexpr std::uint32_t kMaxHeader = 8 * 1024;
constexpr std::chrono::seconds kTimeLimit{10};
// Between tries to accept while that fails.
constexpr std::chrono::milliseconds kFirstPause{5};
constexpr std::chrono::milliseconds kLongestPause{1'000};

// One connection: one request, one answer, closed.
class Session : public std::enable_shared_from_this<Session> {
 public:
  // `owner` keeps `handler`.
  Session(Tcp::socket socket, const HttpServer::Handler& handler, std::shared_ptr<void> owner)
      : stream_(std::move(socket)), handler_(handler), owner_(std::move(owner)) {
    parser_.header_limit(kMaxHeader);
    parser_.body_limit(0);
  }

  void start() {
    stream_.expires_after(kTimeLimit);
    http::async_read_header(stream_, buffer_, parser_,
                            [self = shared_from_this()](error_code error, std::size_t) {
                              if (!error) self->answer();
                            });
  }

  // Whatever it has come to.
  void cut() { stream_.close(); }

 private:
  void answer() {
    const auto& request = parser_.get();
    const bool head = request.method() == http::verb::head;
    Reply reply{405, "only GET\n"};
    if (head || request.method() == http::verb::get) {
      const std::string_view target(request.target().data(), request.target().size());
      reply = handler_(target.substr(0, target.find('?')));
    }
    response_.version(request.version());
    response_.result(static_cast<unsigned>(reply.status));
    response_.set(http::field::content_type, reply.content_type);
    response_.set(http::field::cache_control, "no-store");
    response_.keep_alive(false);
    response_.content_length(reply.body.size());
    if (!head) response_.body() = std::move(reply.body);
    http::async_write(stream_, response_, [self = shared_from_this()](error_code, std::size_t) {
      error_code ignored;
      self->stream_.socket().shutdown(Tcp::socket::shutdown_send, ignored);
    });
  }

  beast::tcp_stream stream_;
  const HttpServer::Handler& handler_;
  std::shared_ptr<void> owner_;
  beast::flat_buffer buffer_{2 * kMaxHeader};
  http::request_parser<http::empty_body> parser_;
  http::response<http::string_body> response_;
};

k8s::Result<Tcp::endpoint> endpoint_of(const std::string& address) {
  const auto colon = address.rfind(':');
  std::string host = colon == std::string::npos ? address : address.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  error_code error;
  const auto ip = asio::ip::make_address(host, error);
  std::uint16_t port = 0;
  const char* end = address.data() + address.size();
  const auto parsed = colon == std::string::npos
                          ? std::from_chars_result{end, std::errc::invalid_argument}
                          : std::from_chars(address.data() + colon + 1, end, port);
  if (error || parsed.ec != std::errc() || parsed.ptr != end) {
    return k8s::config_error(
        fmt::format("\"{}\" is no address to listen on; it must be IP:PORT, such as "
                    "127.0.0.1:10251",
                    address));
  }
  return Tcp::endpoint(ip, port);
}

k8s::Error connection_error(const std::string& what, const error_code& cause) {
  k8s::Error error;
  error.kind = k8s::ErrorKind::kConnect;
  error.message = fmt::format("{}: {}", what, cause.message());
  return error;
}

}  // namespace

class HttpServer::Listener : public std::enable_shared_from_this<Listener> {
 public:
  Listener(k8s::http::AsioEventLoop& loop, Handler handler, Hooks hooks)
      : loop_(loop),
        acceptor_(loop.context()),
        handler_(std::move(handler)),
        hooks_(std::move(hooks)) {}

  error_code open(const Tcp::endpoint& endpoint) {
    error_code error;
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(Tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(Tcp::acceptor::max_listen_connections, error);
    return error;
  }

  void accept() {
    acceptor_.async_accept([self = shared_from_this()](error_code error, Tcp::socket socket) {
      if (error == asio::error::operation_aborted || !self->acceptor_.is_open()) return;
      if (error) return self->pause(error);
      self->pause_ = kFirstPause;
      self->hooks_.on_progress();
      self->serve(std::move(socket));
      self->accept();
    });
  }

  void close() {
    retry_.reset();
    error_code ignored;
    acceptor_.close(ignored);
  }

  [[nodiscard]] std::uint16_t port() const {
    error_code ignored;
    return acceptor_.local_endpoint(ignored).port();
  }

 private:
  // The connection that waits makes the acceptor ready at once: to ask again right away would spin.
  void pause(const error_code& error) {
    const auto pause = std::exchange(pause_, std::min(2 * pause_, kLongestPause));
    hooks_.on_problem(connection_error("accepting a connection", error), pause);
    retry_ = loop_.after(pause, [this] { accept(); });  // ends with close()
  }

  // When all places are taken the connection that has had one longest goes: strangers that open
  // connections and say nothing must not keep a probe from being answered.
  void serve(Tcp::socket socket) {
    std::erase_if(sessions_, [](const auto& session) { return session.expired(); });
    if (sessions_.size() >= kMaxConnections) {
      if (const auto oldest = sessions_.front().lock()) oldest->cut();
      sessions_.pop_front();
    }
    const auto session = std::make_shared<Session>(std::move(socket), handler_, shared_from_this());
    sessions_.push_back(session);
    session->start();
  }

  k8s::EventLoop& loop_;
  Tcp::acceptor acceptor_;
  Handler handler_;
  Hooks hooks_;
  std::chrono::milliseconds pause_ = kFirstPause;
  std::unique_ptr<k8s::Timer> retry_;
  std::deque<std::weak_ptr<Session>> sessions_;  // the oldest first; some have ended
};

k8s::Result<std::unique_ptr<HttpServer>> HttpServer::listen(k8s::EventLoop& loop,
                                                            const std::string& address,
                                                            Handler handler, Hooks hooks) {
  const auto endpoint = endpoint_of(address);
  if (!endpoint) return tl::unexpected<k8s::Error>(endpoint.error());
  auto listener = std::make_shared<Listener>(dynamic_cast<k8s::http::AsioEventLoop&>(loop),
                                             std::move(handler), std::move(hooks));
  if (const error_code error = listener->open(*endpoint)) {
    return tl::unexpected<k8s::Error>(connection_error("listening on " + address, error));
  }
  listener->accept();
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(listener)));
}

k8s::Result<void> HttpServer::check_address(const std::string& address) {
  const auto endpoint = endpoint_of(address);
  if (!endpoint) return tl::unexpected<k8s::Error>(endpoint.error());
  return {};
}

HttpServer::HttpServer(std::shared_ptr<Listener> listener) : listener_(std::move(listener)) {}

HttpServer::~HttpServer() { listener_->close(); }

std::uint16_t HttpServer::port() const { return listener_->port(); }

}  // namespace sched::server
