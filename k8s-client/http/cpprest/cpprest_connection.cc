#include "k8s-client/http/cpprest/cpprest_connection.h"

#include "k8s-client/http/cpprest/conversation.h"

#include <array>
#include <exception>
#include <utility>

namespace k8s::http {
namespace {

// http_client ends everything that takes longer, even a stream; the deadlines of this library
// apply.
constexpr std::chrono::hours kNever{24 * 365};

struct ConnectFailure {
  std::string_view sdk;
  std::string_view ours;
};
// http_client's message for a connection that was never established. Its error code does not help:
// refused becomes unreachable.
constexpr std::array<ConnectFailure, 3> kConnectFailures = {{
    {"Failed to connect to any resolved endpoint", "connection refused or host unreachable"},
    {"Error resolving address", "the name cannot be resolved"},
    {"Failed to resolve address", "the name has no address"},
}};

std::optional<std::string> connect_failure(std::string_view why) {
  for (const auto& [sdk, ours] : kConnectFailures) {
    if (why.substr(0, sdk.size()) == sdk) return std::string(ours);
  }
  return std::nullopt;
}

}  // namespace

CpprestConnection::CpprestConnection(EventLoop& loop, const Endpoint& endpoint,
                                     const RequestMaker& maker, std::shared_ptr<TlsContext> tls,
                                     std::chrono::milliseconds unacknowledged_limit)
    : loop_(loop),
      endpoint_(endpoint),
      maker_(maker),
      tls_(std::move(tls)),
      observer_(std::make_shared<ConnectionObserver>(endpoint, tls_, unacknowledged_limit)) {}

std::optional<Error> CpprestConnection::make_client() try {
  if (endpoint_.host.find(':') != std::string::npos) {
    return make_error(ErrorKind::kConfig,
                      "cpprestsdk cannot connect to an IPv6 address; name the server, or choose "
                      "the other transport");
  }
  sdk::http_client_config config;
  config.set_timeout(kNever);
  config.set_max_redirects(0);
  config.set_validate_certificates(tls_ && tls_->verify_server);
  config.set_tlsext_sni_enabled(false);  // the observer does that
  config.set_nativehandle_options(
      [observer = observer_](void* handle) { observer->before_sending(handle); });
  config.set_ssl_context_callback(
      [observer = observer_](boost::asio::ssl::context& context) { observer->set_up(context); });
  const std::string scheme = endpoint_.tls ? "https://" : "http://";
  client_ = std::make_shared<sdk::http_client>(web::uri(scheme + host_and_port(endpoint_)), config);
  return std::nullopt;
} catch (const std::exception& error) {
  return make_error(ErrorKind::kConfig,
                    "cpprestsdk cannot connect to \"" + endpoint_.host + "\": " + error.what());
}

void CpprestConnection::open(std::chrono::milliseconds timeout, OnOpen done) {
  connect_timeout_ = timeout;
  opened_ = loop_.after({}, [self = shared_from_this(), done = std::move(done)] {
    auto error = self->make_client();
    const auto tell = done;
    self->opened_.reset();
    tell(std::move(error));
  });
}

std::optional<Error> CpprestConnection::converse(const Request& request,
                                                 const std::optional<std::string>& token,
                                                 std::shared_ptr<AnswerHandler> handler) {
  auto made = maker_.make(request, token);
  if (!made) return std::move(made.error());
  handler_ = std::move(handler);
  any_answer_ = false;
  never_connected_ = false;
  observer_->expect_request(request.send_by);
  conversation_ = std::make_shared<Conversation>(loop_, weak_from_this());
  conversation_->begin(*client_, std::move(*made));
  watch_connecting();
  return std::nullopt;
}

// The time begins when http_client has begun with the request, which is checked from time to time.
// An established connection is past that stage when the time is up.
void CpprestConnection::watch_connecting() {
  if (!observer_->has_begun()) {
    connect_timer_ = loop_.after(connect_timeout_ / 8, [this] { watch_connecting(); });
    return;
  }
  connect_timer_ = loop_.after(connect_timeout_, [this] {
    if (!observer_->is_connecting() && !observer_->is_shaking_hands()) return;
    fail(ErrorKind::kConnect, "connect to " + host_and_port(endpoint_) + ": no connection after " +
                                  std::to_string(connect_timeout_.count()) + " ms");
  });
}

void CpprestConnection::on_head(Response head, HttpVersion version) {
  any_answer_ = true;
  connect_timer_.reset();
  if (const auto problem = answer_problem(head, version)) {
    return fail(ErrorKind::kConnection,
                "connection to " + host_and_port(endpoint_) + ": broken HTTP: " + *problem);
  }
  keep_alive_ = keeps_alive(head, version);
  handler_->on_head(std::move(head));
}

void CpprestConnection::on_body(std::string_view bytes) {
  const auto handler = handler_;  // it may close this connection during the call
  handler->on_body(bytes);
}

void CpprestConnection::on_complete() {
  conversation_.reset();
  const auto handler = std::exchange(handler_, nullptr);
  handler->on_complete();
}

void CpprestConnection::on_broken(const std::string& why) {
  const std::string address = host_and_port(endpoint_);
  const std::string tls = observer_->tls_failure();
  if (const auto failure = connect_failure(why)) {
    never_connected_ = true;
    return fail(ErrorKind::kConnect, "connect to " + address + ": " + *failure);
  }
  if (observer_->is_connecting()) {
    return fail(ErrorKind::kConnect, "connect to " + address + ": " + why);
  }
  if (observer_->is_shaking_hands()) {
    return fail(ErrorKind::kTls, "TLS handshake with " + address + " as \"" +
                                     endpoint_.verified_name() +
                                     "\": " + (tls.empty() ? why : tls));
  }
  // With TLS 1.3 the server refuses a client certificate only after the client's side of the
  // handshake.
  const bool refused = observer_->got_alert() && !any_answer_;
  fail(refused ? ErrorKind::kTls : ErrorKind::kConnection,
       "connection to " + address + ": " + why + (tls.empty() ? "" : ": " + tls));
}

void CpprestConnection::fail(ErrorKind kind, const std::string& message) {
  const auto handler = handler_;
  const bool any_answer = any_answer_;
  close();
  handler->on_broken(make_error(kind, message), any_answer);
}

bool CpprestConnection::stop_sending() { return observer_->stop() && !never_connected_; }

void CpprestConnection::close() {
  observer_->stop();
  handler_.reset();
  connect_timer_.reset();
  opened_.reset();
  if (conversation_) std::exchange(conversation_, nullptr)->abandon();
  // Destroyed on the thread that uses it.
  if (client_) sdk::post([client = std::move(client_)] {});
}

}  // namespace k8s::http
