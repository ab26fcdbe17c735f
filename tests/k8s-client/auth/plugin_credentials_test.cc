// When a credential plugin is run, and what requests get meanwhile. Time and processes are the
// test's.
#include "k8s-client/auth/plugin_credentials.h"

#include "k8s-client/api/decode/rfc3339.h"
#include "tests/support/catch.h"
#include "tests/support/manual_loop.h"

#include <utility>
#include <vector>

using k8s::ErrorKind;
using namespace k8s::auth;
using namespace std::chrono_literals;

namespace {

class FakeProcess final : public ChildProcess {
 public:
  explicit FakeProcess(int& running) : running_(running) { ++running_; }
  FakeProcess(const FakeProcess&) = delete;
  FakeProcess& operator=(const FakeProcess&) = delete;
  ~FakeProcess() override { --running_; }

 private:
  int& running_;
};

// A plugin that prints what the test says when it says so.
class Fixture {
 public:
  explicit Fixture(const CredentialSources& authorities = {})
      : credentials_(plugin(), {}, authorities, world()) {
    credentials_.on_problem([this](const k8s::Error& error) { problems.push_back(error.message); });
  }

  // Asks as a transport does; false: it has to wait, and `readies` will count up.
  bool prepare() {
    return credentials_.prepare(loop_, [this] { ++readies; });
  }
  void print(const k8s::Result<Finished>& finished) {
    REQUIRE(done_);
    std::exchange(done_, nullptr)(finished);
  }
  void print_token(const std::string& token, std::optional<std::chrono::seconds> life = {}) {
    std::string status = R"("token": ")" + token + '"';
    if (life) status += R"(, "expirationTimestamp": ")" + time_text(wall_now_ + *life) + '"';
    print_status(status);
  }
  void print_status(const std::string& fields) {
    print(Finished{.exit_code = 0,
                   .output = R"({"kind": "ExecCredential",
                                 "apiVersion": "client.authentication.k8s.io/v1",
                                 "status": {)" +
                             fields + "}}"});
  }
  void print_failure(const std::string& errors = "") {
    print(Finished{.exit_code = 7, .output = "", .errors = errors});
  }
  void pass(std::chrono::seconds time) {
    now_ += time;
    wall_now_ += time;
  }
  [[nodiscard]] std::string token() {
    const auto token = credentials_.bearer_token();
    return token ? token->value_or("none") : token.error().message;
  }
  // Runs it for a first token.
  void begin(const std::string& first, std::optional<std::chrono::seconds> life = {}) {
    CHECK_FALSE(prepare());
    print_token(first, life);
    CHECK(prepare());
    CHECK(token() == first);
  }
  PluginCredentials& credentials() { return credentials_; }
  [[nodiscard]] bool is_running() const { return running_ == 1; }

  int runs = 0;
  int readies = 0;
  std::vector<std::string> problems;
  Command command;  // of the last run

 private:
  static ExecPlugin plugin() {
    ExecPlugin plugin;
    plugin.api_version = "client.authentication.k8s.io/v1";
    plugin.command = "login";
    plugin.program = "/bin/login";
    plugin.install_hint = "get it at example.com";
    return plugin;
  }
  static std::string time_text(std::chrono::system_clock::time_point time) {
    return k8s::json::format_rfc3339(std::chrono::floor<std::chrono::microseconds>(time));
  }
  PluginCredentials::World world() {
    return {.now = [this] { return now_; },
            .wall_clock = [this] { return wall_now_; },
            .run =
                [this](k8s::EventLoop&, const Command& asked, auto done) {
                  CHECK(running_ == 0);  // one at a time
                  ++runs;
                  command = asked;
                  done_ = std::move(done);
                  return std::make_unique<FakeProcess>(running_);
                }};
  }

  tests::ManualLoop loop_;
  std::chrono::steady_clock::time_point now_{std::chrono::hours(1)};
  std::chrono::system_clock::time_point wall_now_{std::chrono::hours(24 * 365 * 56)};
  int running_ = 0;
  std::function<void(k8s::Result<Finished>)> done_;
  PluginCredentials credentials_;
};

}  // namespace

TEST_CASE("plugin credentials: run when first asked for, once for all who wait") {
  Fixture fixture;
  CHECK(fixture.runs == 0);
  for (int i = 0; i < 5; ++i) CHECK_FALSE(fixture.prepare());
  CHECK(fixture.runs == 1);
  CHECK(fixture.readies == 0);
  CHECK_THAT(fixture.token(), Catch::Contains("has yet to be run"));
  fixture.print_token("one");
  CHECK(fixture.readies == 5);
  CHECK(fixture.token() == "one");
  CHECK_FALSE(fixture.is_running());
  fixture.pass(24h);
  CHECK(fixture.prepare());  // without an expiry it is good for as long as we run
  CHECK(fixture.runs == 1);
  CHECK(fixture.command.program == "/bin/login");
}

TEST_CASE("plugin credentials: renewed ahead, while requests go on") {
  struct Case {
    std::chrono::seconds life;
    std::chrono::seconds ahead;
  };
  const auto c = GENERATE(values<Case>({{3600s, 60s}, {300s, 60s}, {100s, 20s}, {10s, 2s}}));
  Fixture fixture;
  fixture.begin("one", c.life);
  fixture.pass(c.life - c.ahead - 1s);
  CHECK(fixture.prepare());
  CHECK(fixture.runs == 1);
  fixture.pass(1s);
  CHECK(fixture.prepare());
  CHECK(fixture.prepare());
  CHECK(fixture.runs == 2);
  CHECK(fixture.token() == "one");
  SECTION("done in time") {
    fixture.print_token("two", c.life);
    CHECK(fixture.token() == "two");
    CHECK(fixture.prepare());
    CHECK(fixture.runs == 2);
  }
  SECTION("not done when the old one expires: now requests wait") {
    fixture.pass(c.ahead);
    CHECK_FALSE(fixture.prepare());
    CHECK(fixture.runs == 2);
    const int before = fixture.readies;
    fixture.print_token("two", c.life);
    CHECK(fixture.readies == before + 1);
    CHECK(fixture.token() == "two");
  }
}

TEST_CASE("plugin credentials: a 401 runs it again, once for all requests that got one") {
  Fixture fixture;
  fixture.begin("one");
  fixture.pass(10min);
  for (int i = 0; i < 3; ++i) fixture.credentials().rejected();
  CHECK_FALSE(fixture.prepare());
  CHECK_FALSE(fixture.prepare());
  CHECK(fixture.runs == 2);
  fixture.print_token("two");
  CHECK(fixture.prepare());
  CHECK(fixture.token() == "two");
  CHECK(fixture.runs == 2);
}

TEST_CASE("plugin credentials: a server that refuses all of them does not make it run on and on") {
  Fixture fixture;
  fixture.begin("one");
  fixture.pass(10min);
  fixture.credentials().rejected();
  CHECK_FALSE(fixture.prepare());
  fixture.print_token("two");
  fixture.credentials().rejected();
  CHECK(fixture.prepare());  // too early: the server's answer is what requests get
  CHECK(fixture.runs == 2);
  CHECK(fixture.token() == "two");
  int runs_in_an_hour = 0;
  for (int second = 0; second < 3600; ++second) {
    fixture.pass(1s);
    if (fixture.prepare()) continue;
    ++runs_in_an_hour;
    fixture.print_token("again");
    fixture.credentials().rejected();
  }
  CHECK(runs_in_an_hour > 40);
  CHECK(runs_in_an_hour < 80);
}

TEST_CASE("plugin credentials: what goes wrong is said in full") {
  struct Case {
    std::string name;
    std::function<void(Fixture&)> end;
    std::string want;
  };
  const auto c = GENERATE(values<Case>({
      {"exit code", [](Fixture& f) { f.print_failure("no session"); },
       "exit code 7, and it wrote to its standard error; run it to see what; get it at "
       "example.com"},
      {"silent", [](Fixture& f) { f.print_failure(); }, "exit code 7; get it"},
      {"not started",
       [](Fixture& f) { f.print(k8s::config_error("cannot be started: no such file")); },
       "cannot be started: no such file"},
      {"nonsense", [](Fixture& f) { f.print(Finished{.output = "hello"}); }, "its output"},
      {"expired", [](Fixture& f) { f.print_token("old", 0s); }, "has expired already"},
  }));
  CAPTURE(c.name);
  Fixture fixture;
  CHECK_FALSE(fixture.prepare());
  c.end(fixture);
  CHECK(fixture.readies == 1);
  const auto token = fixture.credentials().bearer_token();
  REQUIRE_FALSE(token.has_value());
  CHECK(token.error().kind == ErrorKind::kConfig);
  CHECK_THAT(token.error().message, Catch::StartsWith("credential plugin \"login\": "));
  CHECK_THAT(token.error().message, Catch::Contains(c.want));
  CHECK_FALSE(fixture.credentials().tls().has_value());
  CHECK(fixture.problems.empty());  // the requests tell
}

TEST_CASE("plugin credentials: after a failure the next run waits, longer and longer") {
  Fixture fixture;
  CHECK_FALSE(fixture.prepare());
  fixture.print_failure("down");
  CHECK(fixture.prepare());  // for the error
  CHECK(fixture.runs == 1);
  int runs_in_an_hour = 0;
  for (int second = 0; second < 3600; ++second) {
    fixture.pass(1s);
    if (fixture.prepare()) continue;
    ++runs_in_an_hour;
    fixture.print_failure("down");
  }
  CHECK(runs_in_an_hour > 40);
  CHECK(runs_in_an_hour < 80);
  fixture.pass(2min);
  CHECK_FALSE(fixture.prepare());
  fixture.print_token("up");
  CHECK(fixture.token() == "up");
}

TEST_CASE("plugin credentials: a renewal that fails leaves the old in use and is told once") {
  Fixture fixture;
  fixture.begin("one", 1h);
  fixture.pass(59min);
  CHECK(fixture.prepare());
  fixture.print_failure("down");
  CHECK(fixture.token() == "one");
  CHECK(fixture.problems.size() == 1);
  fixture.pass(20s);
  CHECK(fixture.prepare());
  CHECK(fixture.runs == 3);
  fixture.print_failure("down");
  CHECK(fixture.problems.size() == 1);
  fixture.pass(40s);  // expired by now
  CHECK_FALSE(fixture.prepare());
  fixture.print_failure("down");
  CHECK_THAT(fixture.token(), Catch::Contains("exit code 7"));
}

TEST_CASE("plugin credentials: a certificate, beside the cluster's authorities") {
  CredentialSources authorities;
  authorities.ca.inline_text = "ca";
  Fixture fixture(authorities);
  CHECK_FALSE(fixture.prepare());
  fixture.print_status(
      R"("clientCertificateData": "-----BEGIN C", "clientKeyData": "-----BEGIN K")");
  CHECK(fixture.credentials().tls().value() ==
        k8s::TlsMaterial{"ca", "-----BEGIN C", "-----BEGIN K", false});
  CHECK(fixture.token() == "none");
}

TEST_CASE("plugin credentials: gone while the plugin runs, they end it") {
  auto fixture = std::make_unique<Fixture>();
  CHECK_FALSE(fixture->prepare());
  CHECK(fixture->is_running());
  fixture.reset();
  SUCCEED("the fake process has been destroyed, and nobody was called");
}
