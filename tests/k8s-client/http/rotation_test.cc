// Credentials that change, or take time to get, while requests are on their way.
#include "k8s-client/auth/cluster_access.h"
#include "k8s-client/auth/file_credentials.h"
#include "tests/k8s-client/auth/temporary_directory.h"
#include "tests/k8s-client/http/transport_fixture.h"

#include <algorithm>
#include <atomic>
#include <utility>

using k8s::ErrorKind;
using namespace std::chrono_literals;
using namespace tests;

namespace {

using Calls = std::vector<std::shared_ptr<Sent>>;

Calls send_many(TransportFixture& fixture, int count) {
  auto request = post("/", "{}");
  request.deadline = 1h;  // not what a test fails by on a machine that is slow with handshakes
  Calls calls;
  for (int i = 0; i < count; ++i) calls.push_back(fixture.send(request));
  return calls;
}

bool all_ended(const Calls& calls) {
  return std::all_of(calls.begin(), calls.end(), [](const auto& sent) { return sent->ended(); });
}

// A server for clients with a certificate; it answers with the client's name, once the gate of that
// connection is open.
TlsServer& serve_names(TransportFixture& fixture, std::function<Gate&(int connection)> gate_of) {
  ServerOptions how;
  how.identity = cluster_authority().issue_server();
  how.client_ca_pem = cluster_authority().pem();
  return fixture.serve(how, [gate_of = std::move(gate_of)](ServerConnection& connection) {
    if (!connection.handshake()) return;
    while (connection.read_request() && connection.wait(gate_of(connection.number()))) {
      connection.send(ok(connection.client_name()));
    }
  });
}

TlsServer& serve_names(TransportFixture& fixture, Gate& gate) {
  return serve_names(fixture, [&gate](int) -> Gate& { return gate; });
}

void take_identity(TransportFixture& fixture, const std::string& name) {
  const auto identity = cluster_authority().issue({.common_name = name});
  fixture.credentials.material.certificate_pem = identity.certificate_pem;
  fixture.credentials.material.key_pem = identity.key_pem;
}

// A server for clients with a token; it answers with the token, once `gate` is open, or with 401 if
// it was `refused` by then.
TlsServer& serve_tokens(TransportFixture& fixture, Gate& gate, const std::string& refused) {
  return fixture.serve([&](ServerConnection& connection) {
    if (!connection.handshake()) return;
    while (const auto request = connection.read_request()) {
      if (!connection.wait(gate)) return;
      const std::string token = request->header("authorization");
      connection.send(token == refused ? answer(401, "", "") : ok(token));
    }
  });
}

int count_answers(const Calls& calls, const std::string& body) {
  return static_cast<int>(std::count_if(
      calls.begin(), calls.end(), [&](const auto& sent) { return sent->response().body == body; }));
}

int lines_of(const TemporaryDirectory& directory, const std::string& file) {
  const auto text = k8s::auth::read_small_file(directory.path(file)).value_or("");
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_CASE("transport: a certificate rotated under load breaks nothing, and is used from then on") {
  Gate old_gate;
  Gate new_gate;
  FOR_EACH_TRANSPORT(fixture);
  fixture.options.max_connections = 4;
  fixture.options.connect_timeout = 1h;
  TlsServer& server = serve_names(
      fixture, [&](int connection) -> Gate& { return connection <= 4 ? old_gate : new_gate; });
  take_identity(fixture, "old");
  const auto before = send_many(fixture, 20);  // four on their way, the rest in the queue
  fixture.run_until([&] { return server.requests().size() == 4; });
  take_identity(fixture, "new");
  const auto after = send_many(fixture, 20);
  old_gate.open();
  // A request on each of as many new connections, before one of them may take the others' work.
  fixture.run_until([&] { return server.requests().size() == 8; });
  new_gate.open();
  fixture.run_until([&] { return all_ended(before) && all_ended(after); });
  int old_answers = 0;
  for (const auto& sent : before) old_answers += sent->response().body == "old" ? 1 : 0;
  CHECK(old_answers == 4);
  for (const auto& sent : after) CHECK(sent->response().body == "new");
  CHECK(server.requests().size() == 40);  // none was sent twice
  CHECK(server.accepted() == 8);
  fixture.run_until([&] { return server.open_now() == 4; });  // the old ones are closed
}

TEST_CASE("transport: a token rotated under load breaks nothing, and is used from then on") {
  Gate gate;
  std::string refused;
  const TemporaryDirectory directory;
  ManualTime time;
  k8s::auth::CredentialSources sources;
  sources.ca.inline_text = cluster_authority().pem();
  sources.token_file = directory.write("token", "old");
  k8s::auth::FileCredentials from_file(sources, time.now());
  FOR_EACH_TRANSPORT(fixture);
  fixture.options.max_connections = 4;
  TlsServer& server = serve_tokens(fixture, gate, refused);
  fixture.credentials.token = "old";
  std::function<void()> rotate;
  SECTION("given") {
    rotate = [&] { fixture.credentials.token = "new"; };
  }
  SECTION("in a file that is due to be read again") {
    fixture.use(from_file);
    rotate = [&] {
      directory.write("token", "new");
      time.pass(k8s::auth::kRereadInterval);
    };
  }
  SECTION("in a file that is read again once the server refuses the old one") {
    fixture.use(from_file);
    rotate = [&] {
      directory.write("token", "new");
      refused = "Bearer old";
    };
  }
  const auto before = send_many(fixture, 20);  // four on their way, the rest in the queue
  fixture.run_until([&] { return server.requests().size() == 4; });
  rotate();
  const auto after = send_many(fixture, 20);
  gate.open();
  fixture.run_until([&] { return all_ended(before) && all_ended(after); });
  CHECK(count_answers(before, refused.empty() ? "Bearer old" : "") == 4);
  CHECK(count_answers(before, "Bearer new") == 16);
  CHECK(count_answers(after, "Bearer new") == 20);
  CHECK(server.requests().size() == 40);  // none was sent twice
  CHECK(server.accepted() == 4);
}

TEST_CASE("transport: a stream goes on with the certificate it began with") {
  Gate gate;
  FOR_EACH_TRANSPORT(fixture);
  TlsServer& server = serve_names(fixture, gate);
  take_identity(fixture, "old");
  const auto streamed = fixture.stream(get("/watch"));
  fixture.run_until([&] { return server.requests().size() == 1; });
  take_identity(fixture, "new");
  gate.open();
  fixture.run_until([&] { return streamed->ended(); });
  CHECK(streamed->data == "old");
  CHECK(streamed->error.has_value() == false);
}

TEST_CASE("transport: a rotated certificate that cannot be used is told once, the old one serves") {
  Gate open;
  open.open();
  FOR_EACH_TRANSPORT(fixture);
  TlsServer& server = serve_names(fixture, open);
  std::vector<std::string> problems;
  fixture.credentials.on_problem(
      [&](const k8s::Error& error) { problems.push_back(error.message); });
  take_identity(fixture, "old");
  CHECK(fixture.exchange(get("/"))->response().body == "old");
  const auto key = fixture.credentials.material.key_pem;
  take_identity(fixture, "new");
  const auto new_key = std::exchange(fixture.credentials.material.key_pem, key);
  const auto calls = send_many(fixture, 5);
  fixture.run_until([&] { return all_ended(calls); });
  for (const auto& sent : calls) CHECK(sent->response().body == "old");
  REQUIRE(problems.size() == 1);
  CHECK_THAT(problems.front(),
             Catch::Contains("the old one stays in use") && Catch::Contains("client key"));
  fixture.credentials.material.key_pem = new_key;
  CHECK(fixture.exchange(get("/"))->response().body == "new");
  CHECK(problems.size() == 1);
  CHECK(server.requests().size() == 7);
}

TEST_CASE("transport: a 401 to a token that has been replaced says nothing about the new one") {
  Gate gate;
  FOR_EACH_TRANSPORT(fixture);
  TlsServer& server = fixture.serve([&](ServerConnection& connection) {
    if (!connection.handshake()) return;
    while (connection.read_request() && connection.wait(gate)) {
      connection.send(answer(401, "", ""));
    }
  });
  fixture.credentials.token = "one";
  const auto first = fixture.send(get("/1"));
  fixture.run_until([&] { return server.requests().size() == 1; });
  fixture.credentials.token = "two";
  gate.open();
  fixture.run_until([&] { return first->ended(); });
  CHECK(first->response().status == 401);
  CHECK(fixture.credentials.rejections == 0);
  CHECK(fixture.exchange(get("/2"))->response().status == 401);
  CHECK(fixture.credentials.rejections == 1);
}

TEST_CASE("transport: requests and streams wait for credentials that take time to get") {
  FOR_EACH_TRANSPORT(fixture);
  TlsServer& server = fixture.serve(answering([](const ReceivedRequest&) { return ok("yes"); }));
  fixture.credentials.ready = false;
  const auto calls = send_many(fixture, 3);
  const auto streamed = fixture.stream(get("/watch"));
  auto late = get("/late");
  late.deadline = 20ms;
  const auto missed = fixture.exchange(late);
  CHECK(missed->error().kind == ErrorKind::kTimeout);
  CHECK_FALSE(missed->error().may_have_acted);
  CHECK_THAT(missed->error().message, Catch::Contains("waiting for credentials"));
  CHECK(server.accepted() == 0);
  CHECK(fixture.credentials.waiting.size() == 1);  // the transport asks once for all
  const auto ready = fixture.credentials.waiting.front();

  SECTION("they come") {
    fixture.credentials.ready = true;
    fixture.credentials.token = "fresh";
    ready();
    fixture.run_until([&] { return all_ended(calls) && streamed->ended(); });
    for (const auto& sent : calls) CHECK(sent->response().body == "yes");
    CHECK(streamed->data == "yes");
    for (const auto& request : server.requests()) {
      CHECK(request.header("authorization") == "Bearer fresh");
    }
  }
  SECTION("they fail") {
    fixture.credentials.ready = true;
    fixture.credentials.failure = k8s::Error{.kind = ErrorKind::kConfig, .message = "no session"};
    ready();
    fixture.run_until([&] { return all_ended(calls) && streamed->ended(); });
    for (const auto& sent : calls) CHECK(sent->error().kind == ErrorKind::kConfig);
    CHECK_THAT(streamed->error.value().message, Catch::Contains("no session"));
  }
  SECTION("cancelled") {
    for (const auto& sent : calls) sent->call->cancel();
    streamed->call->cancel();
    fixture.run_until([&] { return all_ended(calls) && streamed->ended(); });
    CHECK(streamed->error.value().kind == ErrorKind::kCancelled);
    CHECK(server.accepted() == 0);
  }
  SECTION("the transport goes first") {
    fixture.destroy_transport();
    for (const auto& sent : calls) CHECK(sent->error().kind == ErrorKind::kCancelled);
    CHECK(streamed->error.value().kind == ErrorKind::kCancelled);
    ready();  // without effect
    fixture.run_due();
  }
}

TEST_CASE("transport: a credential plugin, run again after a 401") {
  const TemporaryDirectory directory;
  std::atomic<bool> rotated = false;
  std::unique_ptr<k8s::Credentials> credentials;  // outlives the fixture's transport
  FOR_EACH_TRANSPORT(fixture);
  directory.write("token", "old");
  const auto plugin =
      directory.write("login",
                      "#!/bin/sh\ncd \"$(dirname \"$0\")\"\necho run >> runs\n"
                      "printf '{\"kind\": \"ExecCredential\", \"apiVersion\": "
                      "\"client.authentication.k8s.io/v1\", \"status\": {\"token\": \"%s\"}}' "
                      "\"$(cat token)\"\n");
  std::filesystem::permissions(plugin, std::filesystem::perms::owner_all);
  directory.write("ca.pem", cluster_authority().pem());
  TlsServer& server = fixture.serve(answering([&](const ReceivedRequest& request) {
    const std::string wanted = rotated ? "Bearer new" : "Bearer old";
    return request.header("authorization") == wanted ? ok("in") : answer(401, "", "");
  }));
  auto access = k8s::load_kubeconfig(directory.write(
      "config",
      "current-context: c\ncontexts: [{name: c, context: {cluster: c, user: u}}]\n"
      "clusters: [{name: c, cluster: {server: 'https://127.0.0.1:" +
          std::to_string(server.port()) +
          "', certificate-authority: ca.pem}}]\nusers: [{name: u, user: {exec: {command: ./login, "
          "apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}}}]\n"));
  REQUIRE(access.has_value());
  credentials = std::move(access->credentials);
  fixture.use(*credentials);

  const auto first = send_many(fixture, 10);
  fixture.run_until([&] { return all_ended(first); });
  for (const auto& sent : first) CHECK(sent->response().body == "in");
  CHECK(lines_of(directory, "runs") == 1);

  rotated = true;
  directory.write("token", "new");
  CHECK(fixture.exchange(get("/"))->response().status == 401);
  // Refused so young, they are not asked for again at once; the server's answer is what there is.
  int status = 401;
  while (status == 401) status = fixture.exchange(get("/"))->response().status;
  CHECK(status == 200);
  CHECK(lines_of(directory, "runs") == 2);
}
