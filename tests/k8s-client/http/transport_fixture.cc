#include "tests/k8s-client/http/transport_fixture.h"

#include "k8s-client/http/asio_transport.h"
#include "k8s-client/http/cpprest_transport.h"

#include <utility>

namespace tests {
namespace {

// Far beyond what any test needs, on any machine: only a hang reaches it.
constexpr std::chrono::seconds kHang{60};

}  // namespace

const std::vector<TransportUnderTest>& transports() {
  static const std::vector<TransportUnderTest> all = {
      {.name = "asio",
       .make =
           [](k8s::EventLoop& loop, const k8s::Endpoint& endpoint, k8s::Credentials& credentials,
              const k8s::TransportOptions& options) {
             return k8s::make_asio_transport(loop, endpoint, credentials, options);
           }},
      {.name = "cpprest",
       .takes_any_bytes = true,
       .connects_when_used = true,
       .own_request_headers = {{"connection", "Keep-Alive"}},
       .make =
           [](k8s::EventLoop& loop, const k8s::Endpoint& endpoint, k8s::Credentials& credentials,
              const k8s::TransportOptions& options) {
             return k8s::make_cpprest_transport(loop, endpoint, credentials, options);
           }},
  };
  return all;
}

const Authority& cluster_authority() {
  static const Authority authority("cluster-ca");
  return authority;
}

bool FixedCredentials::prepare(k8s::EventLoop&, std::function<void()> call) {
  if (!ready) waiting.push_back(std::move(call));
  return ready;
}

k8s::Result<std::optional<std::string>> FixedCredentials::bearer_token() {
  if (failure) return tl::unexpected<k8s::Error>(*failure);
  return token;
}

k8s::Result<k8s::TlsMaterial> FixedCredentials::tls() {
  if (failure) return tl::unexpected<k8s::Error>(*failure);
  return material;
}

const k8s::Response& Sent::response() const {
  REQUIRE(callbacks == 1);
  INFO((result->has_value() ? std::string() : result->error().message));
  REQUIRE(result->has_value());
  return result->value();
}

const k8s::Error& Sent::error() const {
  REQUIRE(callbacks == 1);
  REQUIRE_FALSE(result->has_value());
  return result->error();
}

TransportFixture::TransportFixture(const TransportUnderTest& under_test)
    : under_test_(under_test), loop_(k8s::make_event_loop()) {
  endpoint.host = "127.0.0.1";
  credentials.material.ca_pem = cluster_authority().pem();
}

TransportFixture::~TransportFixture() {
  transport_.reset();  // before the server, which posts to the loop, and that
  server_.reset();
}

void TransportFixture::use(k8s::Credentials& others) {
  transport_.reset();
  used_ = &others;
}

TlsServer& TransportFixture::serve(Script script) {
  ServerOptions how;
  how.identity = cluster_authority().issue_server();
  return serve(std::move(how), std::move(script));
}

TlsServer& TransportFixture::serve(ServerOptions how, Script script) {
  how.changed = [this] { changed(); };
  endpoint.tls = how.tls;
  server_ = std::make_unique<TlsServer>(std::move(how), std::move(script));
  endpoint.port = server_->port();
  return *server_;
}

k8s::Transport& TransportFixture::transport() {
  if (!transport_) transport_ = under_test_.make(*loop_, endpoint, *used_, options);
  return *transport_;
}

std::shared_ptr<Sent> TransportFixture::send(k8s::Request request) {
  auto sent = std::make_shared<Sent>();
  registering_ = true;
  sent->call =
      transport().send(std::move(request), [this, sent](k8s::Result<k8s::Response> result) {
        CHECK_FALSE(registering_);
        ++sent->callbacks;
        sent->result = std::move(result);
        changed();
      });
  registering_ = false;
  return sent;
}

std::shared_ptr<Streamed> TransportFixture::stream(k8s::Request request) {
  auto streamed = std::make_shared<Streamed>();
  k8s::StreamHandler handler;
  handler.on_response = [this, streamed](const k8s::Response& head) {
    CHECK_FALSE(registering_);
    ++streamed->responses;
    streamed->head = head;
    changed();
  };
  handler.on_data = [this, streamed](std::string_view bytes) {
    CHECK(streamed->responses == 1);
    CHECK_FALSE(streamed->ended());
    streamed->data.append(bytes);
    if (streamed->during_data) streamed->during_data();
    changed();
  };
  handler.on_end = [this, streamed](std::optional<k8s::Error> error) {
    CHECK_FALSE(registering_);
    ++streamed->ends;
    streamed->error = std::move(error);
    changed();
  };
  registering_ = true;
  streamed->call = transport().stream(std::move(request), std::move(handler));
  registering_ = false;
  return streamed;
}

std::shared_ptr<Sent> TransportFixture::exchange(k8s::Request request) {
  auto sent = send(std::move(request));
  run_until([&] { return sent->ended(); });
  return sent;
}

void TransportFixture::run_until(const std::function<bool()>& condition) {
  bool hangs = false;
  const auto limit = loop_->after(kHang, [&] {
    hangs = true;
    loop_->stop();
  });
  awaited_ = condition;
  changed();
  loop_->run();
  awaited_ = nullptr;
  REQUIRE_FALSE(hangs);
}

void TransportFixture::run_due() {
  bool reached = false;
  loop_->post([&] { reached = true; });
  run_until([&] { return reached; });
}

void TransportFixture::changed() {
  loop_->post([this] {
    if (awaited_ && awaited_()) loop_->stop();
  });
}

k8s::Request get(const std::string& target) {
  k8s::Request request;
  request.target = target;
  request.repeatable = true;
  return request;
}

k8s::Request post(const std::string& target, const std::string& body) {
  k8s::Request request;
  request.method = k8s::Method::kPost;
  request.target = target;
  request.body = body;
  return request;
}

}  // namespace tests
