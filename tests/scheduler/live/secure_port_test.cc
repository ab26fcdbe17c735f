// The secure port over real sockets on the loopback interface, before an API server inside the
// test.
#include "scheduler/live/secure_port.h"

#include "k8s-client/api/encode.h"
#include "k8s-client/auth/file_credentials.h"
#include "plugins/registry.h"
#include "scheduler/config/config.h"
#include "scheduler/live/engine_thread.h"
#include "scheduler/server/http_server.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"
#include "tests/support/certificates.h"
#include "tests/support/https_connection.h"
#include "tests/support/tls_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace sched::live {

namespace {

using Json = nlohmann::json;
using tests::HttpsConnection;
using tests::ReceivedRequest;

std::string get(const std::string& path, const std::string& token) {
  const std::string header = token.empty() ? "" : "Authorization: Bearer " + token + "\r\n";
  return "GET " + path + " HTTP/1.1\r\nHost: x\r\n" + header + "\r\n";
}

// The body of an answer that says how long it is.
std::string body_of(const std::string& answer) {
  const auto end = answer.find("\r\n\r\n");
  return end == std::string::npos ? "no answer" : answer.substr(end + 4);
}

// With more values than are read, and names that contradict each other: if the values were not
// dropped, the pod would be refused for the names.
k8s::Pod picky_pod() {
  std::vector<std::string> values;
  for (int i = 0; i < 10'000; ++i) values.push_back(fmt::format("v{}", i));
  const auto name = tests::label("metadata.name");
  return tests::pod("picky")
      .in_namespace("ml")
      .served_by("gpu-scheduler")
      .requires_nodes(
          {tests::term({tests::label("zone").in(values)}, {name.in({"n1"}), name.in({"n2"})})});
}

// Knows the tokens "prometheus" and "stranger", and lets the first get /metrics, /explain and
// /debug/recording, and the pods "ml/fits" and "ml/picky".
std::string answer_to(const ReceivedRequest& request) {
  if (request.method == "GET") {
    const bool fits = request.target == "/api/v1/namespaces/ml/pods/fits";
    REQUIRE((fits || request.target == "/api/v1/namespaces/ml/pods/picky"));
    const k8s::Pod pod =
        fits ? tests::pod("fits").in_namespace("ml").served_by("gpu-scheduler") : picky_pod();
    return tests::answer(200, "Content-Type: application/json\r\n", k8s::encode(pod));
  }
  const Json body = Json::parse(request.body);
  Json status;
  if (request.target == "/apis/authentication.k8s.io/v1/tokenreviews") {
    const std::string token = body["spec"]["token"];
    const bool known = token == "prometheus" || token == "stranger";
    status["authenticated"] = known;
    if (known) {
      status["user"] = {
          {"username", token}, {"uid", "u"}, {"groups", {"g"}}, {"extra", {{"k", {"v"}}}}};
    }
  } else if (request.target == "/apis/authorization.k8s.io/v1/subjectaccessreviews") {
    const std::string user = body["spec"]["user"];
    Json want = {{"user", user}, {"uid", "u"}, {"groups", {"g"}}, {"extra", {{"k", {"v"}}}}};
    bool allowed = user == "prometheus";
    if (const Json& spec = body["spec"]; spec.contains("nonResourceAttributes")) {
      const std::string path = spec["nonResourceAttributes"]["path"];
      want["nonResourceAttributes"] = {{"path", path}, {"verb", "get"}};
      allowed = allowed && (path == "/metrics" || path == "/explain" || path == "/debug/recording");
    } else {
      const Json& asked = body["spec"]["resourceAttributes"];
      want["resourceAttributes"] = {{"verb", "get"},
                                    {"group", ""},
                                    {"resource", "pods"},
                                    {"namespace", "ml"},
                                    {"name", asked["name"] == "picky" ? "picky" : "fits"}};
    }
    status["allowed"] = body["spec"] == want && allowed;
  }
  return tests::answer(201, "Content-Type: application/json\r\n", Json{{"status", status}}.dump());
}

class SecurePortWorld {
 public:
  using Recording = std::function<void(std::function<void(RecordingParts)>)>;

  explicit SecurePortWorld(std::function<std::string()> text, Recording recording = {},
                           std::optional<TenantAnswers::Scheduler> answers = {}) {
    k8s::auth::CredentialSources sources;
    sources.ca.inline_text = authority_.pem();
    sources.token = "own";
    SecurePortOptions options;
    options.address = "127.0.0.1:0";
    options.time_limit = std::chrono::minutes(5);  // whatever else the machine does
    options.cluster.endpoint.host = "127.0.0.1";
    options.cluster.endpoint.port = api_.port();
    options.cluster.credentials = std::make_unique<k8s::auth::FileCredentials>(
        sources, [] { return std::chrono::steady_clock::now(); });
    auto opened = SecurePort::open(
        std::move(options), {.metrics = std::move(text),
                             .ask = [this](Question question) { engine_.ask(std::move(question)); },
                             .names = {"gpu-scheduler"},
                             .on_request = [](std::string_view, int, std::chrono::nanoseconds) {},
                             .recording = std::move(recording),
                             .answers = std::move(answers)});
    REQUIRE(opened);
    port_ = std::move(*opened);
  }

  [[nodiscard]] HttpsConnection connect() const { return HttpsConnection(port_->port()); }
  [[nodiscard]] std::string status(const std::string& token) const {
    return connect().exchange(get("/metrics", token)).substr(9, 3);
  }
  [[nodiscard]] std::vector<ReceivedRequest> reviews() const { return api_.requests(); }
  // With a node.
  void begin_to_decide() {
    engine_.push(event::NodeUpserted{tests::node("n1")});
    engine_.push(event::Synced{});
    engine_.start();
  }

 private:
  static Engine make_engine() {
    auto config = config::parse("", "default", plugins::registry());
    REQUIRE(config);
    return Engine(std::move(config->profiles), config->engine);
  }

  tests::Authority authority_{"authority"};
  tests::TlsServer api_{{.identity = authority_.issue_server()}, tests::answering(answer_to)};
  EngineThread engine_{make_engine(),
                       {.on_decisions = [](const std::vector<Decided>&) {},
                        .on_pending = [](const PendingPods&) {},
                        .clock = [] { return Time(std::chrono::seconds(1)); }},
                       nullptr};
  std::unique_ptr<SecurePort> port_;
};

// Answers probes on a loop of its own, as the shell's does.
class Probed {
 public:
  Probed() {
    auto listening = server::HttpServer::listen(
        *loop_, {.address = "127.0.0.1:0"},
        [](const server::Request&, const server::HttpServer::Answer& answer) {
          answer(server::text_reply(200, "ok"));
        },
        {});
    REQUIRE(listening);
    server_ = std::move(*listening);
    thread_ = std::thread([this] { loop_->run(); });
  }
  ~Probed() {
    loop_->stop();
    thread_.join();
  }
  Probed(const Probed&) = delete;
  Probed& operator=(const Probed&) = delete;

  [[nodiscard]] std::string probe() const {
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(server_->port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
    const std::string request = get("/livez", "");
    REQUIRE(::send(socket, request.data(), request.size(), MSG_NOSIGNAL) > 0);
    std::string answer;
    std::array<char, 4096> chunk{};
    for (ssize_t n = 0; (n = ::recv(socket, chunk.data(), chunk.size(), 0)) > 0;) {
      answer.append(chunk.data(), static_cast<std::size_t>(n));
    }
    ::close(socket);
    return body_of(answer);
  }

 private:
  std::unique_ptr<k8s::EventLoop> loop_ = k8s::make_event_loop();
  std::unique_ptr<server::HttpServer> server_;
  std::thread thread_;
};

}  // namespace

TEST_CASE("the secure port shows metrics to those whom the API server lets get them") {
  const SecurePortWorld world([] { return std::string("m 1\n"); });
  CHECK(world.status("") == "401");
  CHECK(world.reviews().empty());
  CHECK(world.status("made-up") == "401");
  CHECK(world.status("stranger") == "403");
  CHECK(world.status("prometheus") == "200");
  CHECK(body_of(world.connect().exchange(get("/metrics?x", "prometheus"))) == "m 1\n");
  CHECK(world.connect().exchange(get("/livez", "prometheus")).substr(9, 3) == "404");
  // The page is off.
  CHECK(world.connect().exchange(get("/ui/", "prometheus")).substr(9, 3) == "404");
  // The last two were known.
  CHECK(world.reviews().size() == 5);
  for (const ReceivedRequest& request : world.reviews()) {
    CHECK(request.header("authorization") == "Bearer own");
  }
}

TEST_CASE("the secure port puts questions about pods to the engine") {
  SecurePortWorld world([] { return std::string(); });
  world.begin_to_decide();
  const std::string page = "/explain?namespace=ml&pod=fits";
  CHECK(world.connect().exchange(get(page, "")).substr(9, 3) == "401");
  CHECK(world.connect().exchange(get(page, "stranger")).substr(9, 3) == "403");
  CHECK(world.connect()
            .exchange(get("/candidates?namespace=ml&pod=fits", "prometheus"))
            .substr(9, 3) == "403");
  CHECK(world.connect().exchange(get("/explain?pod=fits", "prometheus")).substr(9, 3) == "400");
  const Json got = Json::parse(body_of(world.connect().exchange(get(page, "prometheus"))));
  CHECK(got["message"] == "");
  CHECK(got["nodes"] == Json::parse(R"([{"node": "n1", "code": "Success", "plugin": "",
                                         "reasons": [], "numbers": []}])"));
}

TEST_CASE("a pod with lists that are too long can be asked about, and they are not read") {
  SecurePortWorld world([] { return std::string(); });
  world.begin_to_decide();
  const std::string page = "/explain?namespace=ml&pod=picky";
  const Json got = Json::parse(body_of(world.connect().exchange(get(page, "prometheus"))));
  CHECK(got["refusedBy"] == Json{{"plugin", "UnsupportedConstraints"},
                                 {"reason",
                                  "pod has a node affinity of more than 2000 terms, expressions "
                                  "and values, which gpu-scheduler does not read"}});
}

TEST_CASE("the secure port answers tenants where that is switched on") {
  const std::string page = "/answers/why?namespace=ml&pod=fits";
  const SecurePortWorld off([] { return std::string(); });
  CHECK_THAT(off.connect().exchange(get(page, "prometheus")),
             Catch::StartsWith("HTTP/1.1 404 ") && Catch::Contains("--answers switches them on"));
  CHECK(off.reviews().empty());

  const UiNotes notes;
  const SecurePortWorld on([] { return std::string(); }, {},
                           TenantAnswers::Scheduler{.notes = &notes,
                                                    .names = {"gpu-scheduler"},
                                                    .clock = [] { return Time(); },
                                                    .budget = {}});
  CHECK(on.connect().exchange(get(page, "")).substr(9, 3) == "401");
  CHECK_THAT(on.connect().exchange(get(page, "prometheus")),
             Catch::StartsWith("HTTP/1.1 403 ") &&
                 Catch::Contains("\"prometheus\" cannot get pods in \"ml\""));
}

TEST_CASE("the secure port sends a recording, part after part, to those who may have it") {
  RecordingParts parts;
  std::string whole;
  for (int i = 0; i < 300; ++i) {
    const std::string part(static_cast<std::size_t>(i) * 50, static_cast<char>('a' + i % 26));
    parts.push_back(std::make_shared<const std::string>(part));
    whole += part;
  }
  int asked = 0;
  const SecurePortWorld world([] { return std::string(); },
                              [&](const auto& done) {
                                ++asked;
                                std::thread([&parts, done] { done(parts); }).join();
                              });
  CHECK(world.connect().exchange(get("/debug/recording", "")).substr(9, 3) == "401");
  CHECK(world.connect().exchange(get("/debug/recording", "stranger")).substr(9, 3) == "403");
  CHECK(asked == 0);
  const std::string answer = world.connect().exchange(get("/debug/recording", "prometheus"));
  CHECK(answer.substr(9, 3) == "200");
  CHECK_THAT(answer, Catch::Contains("Content-Type: application/gzip\r\n") &&
                         Catch::Contains(fmt::format("Content-Length: {}\r\n", whole.size())));
  CHECK(body_of(answer) == whole);

  const SecurePortWorld without([] { return std::string(); });
  CHECK_THAT(without.connect().exchange(get("/debug/recording", "prometheus")),
             Catch::Contains("404") && Catch::Contains("--flight-recording 0"));
  const SecurePortWorld ended([] { return std::string(); }, [](const auto& done) { done({}); });
  CHECK_THAT(ended.connect().exchange(get("/debug/recording", "prometheus")),
             Catch::Contains("503") && Catch::Contains("has ended"));
}

TEST_CASE("the secure port ends while a question waits") {
  std::optional<HttpsConnection> asking;
  tests::Gate asked;
  const std::stop_token never;
  {
    SecurePortWorld world([&] {
      asked.open();
      return std::string();
    });
    asking.emplace(world.connect());
    asking->send(get("/explain?namespace=ml&pod=fits", "prometheus"));
    // The engine's thread has not begun. That the port's thread still serves:
    CHECK(world.status("prometheus") == "200");
    REQUIRE(asked.wait(never));
  }
  CHECK(asking->read_all().empty());
}

TEST_CASE("eighty who read two megabytes at once are served, and hold up nobody but themselves") {
  tests::Gate asked;
  tests::Gate open;
  const std::stop_source never;
  const std::string page(2'200'000, 'm');
  const SecurePortWorld world([&] {
    asked.open();
    open.wait(never.get_token());
    return page;
  });
  const Probed scheduler;
  std::vector<HttpsConnection> readers;
  for (int i = 0; i < 80; ++i) readers.push_back(world.connect());
  for (HttpsConnection& reader : readers) reader.send(get("/metrics", "prometheus"));
  // The port's thread does nothing else now, for as long as this test likes.
  REQUIRE(asked.wait(never.get_token()));
  CHECK(scheduler.probe() == "ok");
  open.open();
  for (HttpsConnection& reader : readers) {
    const bool whole = body_of(reader.read_all()) == page;  // not to be shown where it is not
    CHECK(whole);
  }
  CHECK(world.reviews().size() == 2);
}

TEST_CASE("the secure port ends while it is being read") {
  std::vector<HttpsConnection> readers;
  {
    const SecurePortWorld world([] { return std::string(32 << 20, 'm'); });
    for (int i = 0; i < 3; ++i) {
      readers.push_back(world.connect());
      readers.back().send(get("/metrics", i == 0 ? "made-up" : "prometheus"));
    }
    CHECK_THAT(readers.front().read_all(), Catch::StartsWith("HTTP/1.1 401 "));
  }
  for (HttpsConnection& reader : readers) CHECK(reader.read_all().size() < 32 << 20);
}

}  // namespace sched::live
