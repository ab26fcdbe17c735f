#include "scheduler/server/session.h"

#include "k8s-client/ascii.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <type_traits>
#include <utility>
// After Asio's wrapper, which orders includes.
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>

namespace sched::server {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;
using PlainStream = beast::tcp_stream;
using TlsStream = beast::ssl_stream<beast::tcp_stream>;

constexpr std::uint32_t kMaxHeader = 8 * 1024;

std::string_view view(beast::string_view text) { return {text.data(), text.size()}; }

// The token of "Bearer TOKEN".
std::optional<std::string_view> bearer_token(std::string_view authorization) {
  constexpr std::string_view kScheme = "bearer ";
  if (authorization.size() <= kScheme.size()) return std::nullopt;
  if (!k8s::equal_without_case(authorization.substr(0, kScheme.size()), kScheme)) {
    return std::nullopt;
  }
  return authorization.substr(kScheme.size());
}

std::optional<std::string_view> token_of(const http::request_header<>& request) {
  if (const auto token = bearer_token(view(request[http::field::authorization]))) return token;
  return bearer_token(view(request[kForwardedAuthorization]));
}

template <typename Stream>
class SessionOn final : public Session, public std::enable_shared_from_this<SessionOn<Stream>> {
  static constexpr bool kHasTls = std::is_same_v<Stream, TlsStream>;
  using Timer = asio::steady_timer;

 public:
  SessionOn(Stream stream, std::shared_ptr<ServingTls> tls, const HttpServer::Handler& handler,
            std::shared_ptr<void> owner)
      : tls_(std::move(tls)),
        stream_(std::move(stream)),
        timer_(stream_.get_executor()),
        handler_(handler),
        owner_(std::move(owner)) {
    parser_.header_limit(kMaxHeader);
    parser_.body_limit(0);
  }

  void start(std::chrono::milliseconds limit) override {
    limit_ = limit;
    limit_time();
    if constexpr (kHasTls) {
      stream_.async_handshake(asio::ssl::stream_base::server,
                              [self = this->shared_from_this()](error_code error) {
                                if (!error) self->read();
                              });
    } else {
      read();
    }
  }

  void cut() override { tcp().close(); }
  [[nodiscard]] bool is_served() const override { return reply_.status == 200 && answered_; }

 private:
  beast::tcp_stream& tcp() { return beast::get_lowest_layer(stream_); }

  // Cuts the connection after the limit, unless it is called again before. Not by the stream's own
  // timers: a read that is pending, as that of wait_for_the_end(), keeps the one that it began
  // with.
  void limit_time() {
    timer_.expires_after(limit_);
    timer_.async_wait([weak = this->weak_from_this()](error_code error) {
      const auto self = weak.lock();
      if (self && !error && self->timer_.expiry() <= Timer::clock_type::now()) self->cut();
    });
  }

  void read() {
    http::async_read_header(stream_, buffer_, parser_,
                            [self = this->shared_from_this()](error_code error, std::size_t) {
                              if (!error) self->ask();
                            });
  }

  void ask() {
    const auto& request = parser_.get();
    if (request.method() != http::verb::get && request.method() != http::verb::head) {
      return answer(text_reply(405, "only GET\n"));
    }
    const std::string_view target = view(request.target());
    const auto mark = std::min(target.find('?'), target.size());
    const std::weak_ptr<SessionOn> weak = this->weak_from_this();
    handler_({.path = target.substr(0, mark),
              .query = target.substr(std::min(mark + 1, target.size())),
              .bearer_token = token_of(request),
              .host = view(request[http::field::host]),
              .client = weak},
             [weak](Reply reply) {
               if (const auto self = weak.lock()) self->answer(std::move(reply));
             });
    if (!answered_) wait_for_the_end();
  }

  // Reads until the client closes the connection, which then ends. The read keeps the connection
  // alive while its answer is being made. What a client sends after its request is ignored.
  void wait_for_the_end() {
    stream_.async_read_some(asio::buffer(ignored_),
                            [self = this->shared_from_this()](error_code error, std::size_t) {
                              // A TLS shutdown would wait for the client's end, which was read
                              // here.
                              if (error) return self->cut();
                              if (!self->answered_) self->wait_for_the_end();
                            });
  }

  void answer(Reply reply) {
    reply_ = std::move(reply);
    answered_ = true;
    const auto& request = parser_.get();
    response_.version(request.version());
    response_.result(static_cast<unsigned>(reply_.status));
    response_.set(http::field::content_type, reply_.content_type);
    response_.set(http::field::cache_control, "no-store");
    for (const auto& [name, value] : reply_.headers) response_.set(name, value);
    if (reply_.status == 401) response_.set(http::field::www_authenticate, "Bearer");
    response_.keep_alive(false);
    std::size_t size = reply_.body->size();
    for (const auto& part : reply_.more) size += part->size();
    response_.content_length(size);
    if (request.method() == http::verb::head) {
      reply_.more.clear();
    } else {
      response_.body() = {reply_.body->data(), reply_.body->size()};
    }
    http::async_write(stream_, response_,
                      [self = this->shared_from_this()](error_code error, std::size_t) {
                        if (!error) self->send_more(0);
                      });
  }

  void send_more(std::size_t next) {
    // Empty parts are skipped: over TLS an empty write would read, beside the read of
    // wait_for_the_end().
    while (next < reply_.more.size() && reply_.more[next]->empty()) ++next;
    if (next == reply_.more.size()) return finish();
    limit_time();
    asio::async_write(stream_, asio::buffer(*reply_.more[next]),
                      [self = this->shared_from_this(), next](error_code error, std::size_t) {
                        if (!error) self->send_more(next + 1);
                      });
  }

  void finish() {
    if constexpr (kHasTls) {
      stream_.async_shutdown([self = this->shared_from_this()](error_code) { self->cut(); });
    } else {
      error_code ignored;
      stream_.socket().shutdown(ServerSocket::shutdown_send, ignored);
      cut();
    }
  }

  std::shared_ptr<ServingTls> tls_;  // of stream_
  Stream stream_;
  Timer timer_;  // of limit_time()
  const HttpServer::Handler& handler_;
  std::shared_ptr<void> owner_;
  beast::flat_buffer buffer_{2 * kMaxHeader};
  std::array<char, 512> ignored_{};
  http::request_parser<http::empty_body> parser_;
  Reply reply_;  // keeps what response_ shows
  bool answered_ = false;
  std::chrono::milliseconds limit_{};
  http::response<http::span_body<const char>> response_;
};

}  // namespace

std::shared_ptr<Session> make_session(ServerSocket socket, std::shared_ptr<ServingTls> tls,
                                      const HttpServer::Handler& handler,
                                      std::shared_ptr<void> owner) {
  PlainStream plain(std::move(socket));
  if (!tls) {
    return std::make_shared<SessionOn<PlainStream>>(std::move(plain), nullptr, handler,
                                                    std::move(owner));
  }
  TlsStream secured(std::move(plain), tls->context);
  return std::make_shared<SessionOn<TlsStream>>(std::move(secured), std::move(tls), handler,
                                                std::move(owner));
}

}  // namespace sched::server
