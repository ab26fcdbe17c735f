// What every test of Transport needs: a loop, a server with a script, and a record of what came
// back.
//
// The tests are about the contract of transport.h, not about one implementation: each runs for
// every entry of transports(). To put another implementation through them, add it there.
#pragma once

#include "k8s-client/http/credentials.h"
#include "k8s-client/http/endpoint.h"
#include "k8s-client/http/event_loop.h"
#include "k8s-client/http/transport.h"
#include "k8s-client/http/transport_options.h"
#include "tests/support/catch.h"
#include "tests/support/tls_server.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tests {

struct TransportUnderTest {
  std::string name;
  // Where it falls short of the contract, as its header says; the tests show what it does instead.
  bool takes_any_bytes = false;     // for an answer: an interim one, half of one, one too many
  bool connects_when_used = false;  // so that no other connection can be used meanwhile
  k8s::Headers own_request_headers = {};  // besides those that every transport sends
  std::function<std::unique_ptr<k8s::Transport>(k8s::EventLoop&, const k8s::Endpoint&,
                                                k8s::Credentials&, const k8s::TransportOptions&)>
      make = {};
};

[[nodiscard]] const std::vector<TransportUnderTest>& transports();

// The authority that the server of a test is signed by, unless it says otherwise.
[[nodiscard]] const Authority& cluster_authority();

class FixedCredentials final : public k8s::Credentials {
 public:
  bool prepare(k8s::EventLoop& loop, std::function<void()> ready) override;
  k8s::Result<std::optional<std::string>> bearer_token() override;
  k8s::Result<k8s::TlsMaterial> tls() override;
  void rejected() override { ++rejections; }

  std::optional<std::string> token;
  k8s::TlsMaterial material;
  std::optional<k8s::Error> failure;  // of both
  int rejections = 0;
  bool ready = true;
  std::vector<std::function<void()>> waiting;  // for `ready`
};

struct Sent {
  std::shared_ptr<k8s::Call> call;
  int callbacks = 0;
  std::optional<k8s::Result<k8s::Response>> result;

  [[nodiscard]] bool ended() const { return callbacks > 0; }
  // Fails the test unless it ended so, once.
  [[nodiscard]] const k8s::Response& response() const;
  [[nodiscard]] const k8s::Error& error() const;
};

struct Streamed {
  std::shared_ptr<k8s::Call> call;
  int responses = 0;
  int ends = 0;
  k8s::Response head;
  std::string data;
  std::optional<k8s::Error> error;
  std::function<void()> during_data;  // called within each on_data, if set

  [[nodiscard]] bool ended() const { return ends > 0; }
};

class TransportFixture {
 public:
  explicit TransportFixture(const TransportUnderTest& under_test);
  TransportFixture(const TransportFixture&) = delete;
  TransportFixture& operator=(const TransportFixture&) = delete;
  ~TransportFixture();

  // Uses these from the next request on, instead of `credentials`.
  void use(k8s::Credentials& others);

  // Starts the server, to which the endpoint then points.
  TlsServer& serve(Script script);
  TlsServer& serve(ServerOptions how, Script script);
  [[nodiscard]] k8s::EventLoop& loop() { return *loop_; }
  [[nodiscard]] k8s::Transport& transport();
  void destroy_transport() { transport_.reset(); }
  [[nodiscard]] const TransportUnderTest& under_test() const { return under_test_; }

  std::shared_ptr<Sent> send(k8s::Request request);
  std::shared_ptr<Streamed> stream(k8s::Request request);
  // Sends and runs until it has ended.
  std::shared_ptr<Sent> exchange(k8s::Request request);

  // Runs the loop until `condition` holds; it is looked at after each callback and each event of
  // the server. Fails the test when that takes unreasonably long.
  void run_until(const std::function<bool()>& condition);
  // Runs what is due, without waiting for anything.
  void run_due();
  // Looks at the condition of run_until() soon. Thread-safe.
  void changed();

  k8s::Endpoint endpoint;
  FixedCredentials credentials;
  k8s::TransportOptions options;

 private:
  const TransportUnderTest& under_test_;
  std::unique_ptr<k8s::EventLoop> loop_;
  std::function<bool()> awaited_;
  std::unique_ptr<TlsServer> server_;
  std::unique_ptr<k8s::Transport> transport_;
  k8s::Credentials* used_ = &credentials;
  bool registering_ = false;
};

[[nodiscard]] k8s::Request get(const std::string& target);
[[nodiscard]] k8s::Request post(const std::string& target, const std::string& body);

}  // namespace tests

// Makes `fixture` anew for each of transports(). It ends the server's scripts when it goes: what
// they refer to (gates, texts) must be declared before it.
#define FOR_EACH_TRANSPORT(fixture)                                                    \
  const auto under_test = GENERATE(range(std::size_t{0}, tests::transports().size())); \
  CAPTURE(tests::transports()[under_test].name);                                       \
  tests::TransportFixture fixture(tests::transports()[under_test])
