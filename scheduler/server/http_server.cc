#include "scheduler/server/http_server.h"

#include "k8s-client/http/base/boost_asio.h"
#include "k8s-client/parse_number.h"
#include "scheduler/server/serving_certificate.h"
#include "scheduler/server/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>
#include <utility>
// After Asio's wrapper, which orders includes.
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>

namespace sched::server {

namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using Tcp = asio::ip::tcp;

// Between tries to accept while that fails.
constexpr std::chrono::milliseconds kFirstPause{5};
constexpr std::chrono::milliseconds kLongestPause{1'000};

k8s::Result<Tcp::endpoint> endpoint_of(const std::string& address) {
  const auto colon = address.rfind(':');
  std::string host = colon == std::string::npos ? address : address.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  error_code error;
  const auto ip = asio::ip::make_address(host, error);
  const auto port =
      colon == std::string::npos
          ? std::nullopt
          : k8s::parse_number<std::uint16_t>(std::string_view(address).substr(colon + 1));
  if (error || !port) {
    return k8s::config_error(
        fmt::format("\"{}\" is no address to listen on; it must be IP:PORT, such as "
                    "127.0.0.1:10251",
                    address));
  }
  return Tcp::endpoint(ip, *port);
}

k8s::Error connection_error(const std::string& what, const error_code& cause) {
  k8s::Error error;
  error.kind = k8s::ErrorKind::kConnect;
  error.message = fmt::format("{}: {}", what, cause.message());
  return error;
}

}  // namespace

Reply text_reply(int status, std::string text) {
  return {.status = status, .body = std::make_shared<const std::string>(std::move(text))};
}

Reply json_reply(std::string json) {
  return {.body = std::make_shared<const std::string>(std::move(json)),
          .content_type = "application/json"};
}

class HttpServer::Listener : public std::enable_shared_from_this<Listener> {
 public:
  Listener(k8s::EventLoop& loop, const Options& options, Handler handler, Hooks hooks)
      : loop_(loop),
        max_connections_(options.max_connections),
        time_limit_(options.time_limit),
        certificate_(options.certificate),
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
  // The waiting connection makes the acceptor ready again at once. Without a pause this would be a
  // busy loop.
  void pause(const error_code& error) {
    const auto pause = std::exchange(pause_, std::min(2 * pause_, kLongestPause));
    hooks_.on_problem(connection_error("accepting a connection", error), pause);
    retry_ = loop_.after(pause, [this] { accept(); });  // ends with close()
  }

  // If all places are taken, the oldest connection that is not being served is closed: clients that
  // only open connections must not keep a probe or a scrape from being answered.
  void serve(Tcp::socket socket) {
    std::erase_if(sessions_, [](const auto& session) { return session.expired(); });
    if (sessions_.size() >= max_connections_) {
      auto place = std::find_if(sessions_.begin(), sessions_.end(),
                                [](const auto& session) { return !session.lock()->is_served(); });
      if (place == sessions_.end()) place = sessions_.begin();
      place->lock()->cut();
      sessions_.erase(place);
    }
    std::shared_ptr<ServingTls> tls;
    if (certificate_ != nullptr) tls = certificate_->current();
    const auto session =
        make_session(std::move(socket), std::move(tls), handler_, shared_from_this());
    sessions_.push_back(session);
    session->start(time_limit_);
  }

  k8s::EventLoop& loop_;
  const std::size_t max_connections_;
  const std::chrono::milliseconds time_limit_;
  ServingCertificate* const certificate_;  // nullptr: no TLS
  Tcp::acceptor acceptor_;
  Handler handler_;
  Hooks hooks_;
  std::chrono::milliseconds pause_ = kFirstPause;
  std::unique_ptr<k8s::Timer> retry_;
  std::deque<std::weak_ptr<Session>> sessions_;  // the oldest first; some have ended
};

k8s::Result<std::unique_ptr<HttpServer>> HttpServer::listen(k8s::EventLoop& loop,
                                                            const Options& options, Handler handler,
                                                            Hooks hooks) {
  const auto endpoint = endpoint_of(options.address);
  if (!endpoint) return tl::unexpected<k8s::Error>(endpoint.error());
  auto listener = std::make_shared<Listener>(loop, options, std::move(handler), std::move(hooks));
  if (const error_code error = listener->open(*endpoint)) {
    return tl::unexpected<k8s::Error>(connection_error("listening on " + options.address, error));
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
