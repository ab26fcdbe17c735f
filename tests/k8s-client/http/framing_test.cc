// What the server's bytes mean, and when they mean nothing.
#include "tests/k8s-client/http/transport_fixture.h"

using k8s::ErrorKind;
using namespace std::chrono_literals;
using namespace tests;

namespace {

enum class Then { kKeepOpen, kClose, kDrop, kReset };

// A server that sends `bytes` to the first request of each connection, whatever it was.
Script saying(const std::string& bytes, Then then) {
  return [=](ServerConnection& connection) {
    if (!connection.handshake() || !connection.read_request()) return;
    connection.send(bytes);
    if (then == Then::kKeepOpen) connection.wait_for_close();
    if (then == Then::kDrop) connection.drop();
    if (then == Then::kReset) connection.reset();
  };
}

}  // namespace

TEST_CASE("transport: answers that are whole") {
  struct Case {
    std::string name;
    std::string bytes;
    Then then;
    int status;
    std::string body;
  };
  const auto c = GENERATE(values<Case>({
      {"content length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", Then::kKeepOpen, 200,
       "hello"},
      {"no body", "HTTP/1.1 204 No Content\r\n\r\n", Then::kKeepOpen, 204, ""},
      {"not modified", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", Then::kKeepOpen,
       304, ""},
      {"length zero", "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n", Then::kKeepOpen, 201,
       ""},
      {"chunked",
       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;x=y\r\n world\r\n"
       "0\r\nTrailer: 1\r\n\r\n",
       Then::kKeepOpen, 200, "hello world"},
      {"to the end of the connection", "HTTP/1.1 200 OK\r\n\r\nall of it", Then::kClose, 200,
       "all of it"},
      {"HTTP/1.0", "HTTP/1.0 200 OK\r\n\r\nold", Then::kClose, 200, "old"},
      {"redirect, which is not followed",
       "HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 4\r\n\r\ngone",
       Then::kKeepOpen, 302, "gone"},
      {"error status", "HTTP/1.1 500 Oops\r\nContent-Length: 4\r\n\r\noops", Then::kKeepOpen, 500,
       "oops"},
      {"broken off after the last byte", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
       Then::kDrop, 200, "ok"},
  }));
  CAPTURE(c.name);
  FOR_EACH_TRANSPORT(fixture);
  TlsServer& server = fixture.serve(saying(c.bytes, c.then));
  SECTION("as a whole") {
    const auto sent = fixture.exchange(post("/", "{}"));
    CHECK(sent->response().status == c.status);
    CHECK(sent->response().body == c.body);
  }
  SECTION("as a stream") {
    const auto streamed = fixture.stream(get("/"));
    fixture.run_until([&] { return streamed->ended(); });
    CHECK(streamed->error.has_value() == false);
    CHECK(streamed->responses == 1);
    CHECK(streamed->head.status == c.status);
    CHECK(streamed->head.body.empty());
    CHECK(streamed->data == c.body);
  }
  CHECK(server.requests().size() == 1);
}

TEST_CASE("transport: interim answers are not the answer") {
  FOR_EACH_TRANSPORT(fixture);
  fixture.serve(
      saying("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
             "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
             Then::kKeepOpen));
  const auto sent = fixture.exchange(post("/", "{}"));
  if (fixture.under_test().takes_any_bytes) {
    CHECK(sent->error().kind == ErrorKind::kConnection);
    CHECK(sent->error().may_have_acted);
    CHECK_THAT(sent->error().message, Catch::Contains("interim"));
    return;
  }
  CHECK(sent->response().status == 200);
  CHECK(sent->response().body == "hi");
}

TEST_CASE("transport: answers that are broken") {
  struct Case {
    std::string name;
    std::string bytes;
    Then then;
  };
  const auto c = GENERATE(values<Case>({
      {"nothing at all", "", Then::kClose},
      {"nothing, reset", "", Then::kReset},
      {"half a status line", "HTTP/1.1 2", Then::kClose},
      {"half a header", "HTTP/1.1 200 OK\r\nContent-Le", Then::kClose},
      {"half a body", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello", Then::kClose},
      {"half a body, reset", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello", Then::kReset},
      {"half a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
       Then::kClose},
      {"no last chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
       Then::kClose},
      {"to the end, but the end was not announced by TLS", "HTTP/1.1 200 OK\r\n\r\nsome",
       Then::kDrop},
      {"HTTP/2", "HTTP/2.0 200 OK\r\n\r\n", Then::kKeepOpen},
      {"length is no number", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", Then::kKeepOpen},
      {"two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
       Then::kKeepOpen},
      {"length and chunks",
       "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
       Then::kKeepOpen},
      {"chunk size is no number", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
       Then::kKeepOpen},
      {"other protocol", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", Then::kKeepOpen},
      {"interim only", "HTTP/1.1 100 Continue\r\n\r\n", Then::kClose},
      {"huge header", "HTTP/1.1 200 OK\r\nX: " + std::string(200'000, 'x') + "\r\n\r\n",
       Then::kKeepOpen},
  }));
  CAPTURE(c.name);
  FOR_EACH_TRANSPORT(fixture);
  TlsServer& server = fixture.serve(saying(c.bytes, c.then));
  SECTION("as a whole") {
    const auto sent = fixture.exchange(post("/", "{}"));
    CHECK(sent->error().kind == ErrorKind::kConnection);
    CHECK(sent->error().may_have_acted);
    CHECK_THAT(sent->error().message, Catch::StartsWith("POST https://127.0.0.1:"));
  }
  SECTION("as a stream") {
    const auto streamed = fixture.stream(post("/", "{}"));
    fixture.run_until([&] { return streamed->ended(); });
    CHECK(streamed->error.value().kind == ErrorKind::kConnection);
    CHECK(streamed->ends == 1);
  }
  CHECK(server.requests().size() == 1);
}

// Where any bytes are taken, only the deadline puts an end to it.
TEST_CASE("transport: bytes without end that are no answer") {
  struct Case {
    std::string name;
    std::string bytes;
  };
  const auto c = GENERATE(values<Case>({
      {"not HTTP", "SSH-2.0-OpenSSH_9.2\r\n"},
      {"a header",
       "HTTP/1.1 200 OK\r\n" + std::string(100, 'x') + ": " + std::string(300'000, 'x')},
      {"a chunk's extension",
       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;" + std::string(400'000, 'x')},
  }));
  CAPTURE(c.name);
  FOR_EACH_TRANSPORT(fixture);
  TlsServer& server = fixture.serve(saying(c.bytes, Then::kKeepOpen));
  const bool unseen = fixture.under_test().takes_any_bytes;
  const ErrorKind want = unseen ? ErrorKind::kTimeout : ErrorKind::kConnection;
  auto request = post("/", "{}");
  if (unseen) request.deadline = request.idle_limit = 3s;  // connecting takes a part of it
  const auto streamed = fixture.stream(request);
  const auto sent = fixture.exchange(request);
  CHECK(sent->error().kind == want);
  CHECK(sent->error().may_have_acted);
  CHECK_THAT(sent->error().message, Catch::StartsWith("POST https://127.0.0.1:"));
  fixture.run_until([&] { return streamed->ended(); });
  CHECK(streamed->error.value().kind == want);
  CHECK(streamed->ends == 1);
  CHECK(server.requests().size() == 2);
}

TEST_CASE("transport: headers of an answer, large ones too") {
  const std::string large(50'000, 'x');
  FOR_EACH_TRANSPORT(fixture);
  fixture.serve(answering([&](const ReceivedRequest&) {
    return answer(429, "Retry-After: 7\r\nX-Large: " + large + "\r\n", "slow down");
  }));
  const auto sent = fixture.exchange(get("/"));
  CHECK(sent->response().status == 429);
  CHECK(sent->response().header("retry-after") == "7");
  CHECK(sent->response().header("X-LARGE") == large);
  CHECK(sent->response().header("absent") == std::nullopt);
  CHECK(sent->response().body == "slow down");
}

TEST_CASE("transport: large bodies, where they are asked for") {
  const std::string large(20'000'000, 'b');
  const auto get = [&](const std::string& target) {
    auto request = tests::get(target);
    request.body_limit = large.size();
    return request;
  };
  FOR_EACH_TRANSPORT(fixture);
  SECTION("with a length") {
    fixture.serve(answering([&](const ReceivedRequest&) { return ok(large); }));
    CHECK((fixture.exchange(get("/"))->response().body == large));
  }
  SECTION("in chunks") {
    fixture.serve(answering([&](const ReceivedRequest&) {
      return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1312d00\r\n" + large +
             "\r\n0\r\n\r\n";
    }));
    CHECK((fixture.exchange(get("/"))->response().body == large));
  }
  SECTION("of the request") {
    fixture.serve(answering(
        [&](const ReceivedRequest& r) { return ok(r.body == large ? "same" : "different"); }));
    CHECK(fixture.exchange(post("/", large))->response().body == "same");
  }
}

TEST_CASE("transport: a body beyond the limit of its call ends the call, not the transport") {
  const std::string body(5'000, 'b');
  const bool chunked = GENERATE(false, true);
  FOR_EACH_TRANSPORT(fixture);
  fixture.serve(answering([&](const ReceivedRequest& request) {
    if (request.target == "/small") return ok("fine");
    if (!chunked) return ok(body);
    return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1388\r\n" + body + "\r\n0\r\n\r\n";
  }));
  auto request = get("/");
  request.body_limit = body.size();
  CHECK((fixture.exchange(request)->response().body == body));
  request.body_limit = body.size() - 1;
  const auto sent = fixture.exchange(request);
  CHECK(sent->error().kind == ErrorKind::kTooLarge);
  CHECK_THAT(sent->error().message, Catch::Contains("the answer is longer than 4999 bytes"));
  CHECK(fixture.exchange(get("/small"))->response().body == "fine");
}

TEST_CASE("transport: an announced length that never comes costs no memory beforehand") {
  FOR_EACH_TRANSPORT(fixture);
  fixture.serve(
      saying("HTTP/1.1 200 OK\r\nContent-Length: 9000000000000000000\r\n\r\nx", Then::kClose));
  CHECK(fixture.exchange(get("/"))->error().kind == ErrorKind::kTooLarge);
}

TEST_CASE("transport: what a request looks like to the server") {
  FOR_EACH_TRANSPORT(fixture);
  TlsServer& server = fixture.serve(answering([](const ReceivedRequest&) { return ok("{}"); }));
  fixture.endpoint.path_prefix = "/k8s/clusters/c-1";
  fixture.credentials.token = "secret";
  fixture.options.user_agent = "tester/1.0";

  auto request = post("/api/v1/pods?limit=5", "{\"a\":1}");
  request.method = k8s::Method::kPatch;
  request.content_type = "application/strategic-merge-patch+json";
  request.headers = {{"X-Own", "yes"}};
  CHECK(fixture.exchange(request)->response().status == 200);
  const auto seen = server.requests().at(0);
  CHECK(seen.method == "PATCH");
  CHECK(seen.target == "/k8s/clusters/c-1/api/v1/pods?limit=5");
  CHECK(seen.body == "{\"a\":1}");
  std::map<std::string, std::string> want = {
      {"host", "127.0.0.1:" + std::to_string(server.port())},
      {"user-agent", "tester/1.0"},
      {"authorization", "Bearer secret"},
      {"accept", "application/json"},
      {"x-own", "yes"},
      {"content-type", "application/strategic-merge-patch+json"},
      {"content-length", "7"}};
  const auto& own = fixture.under_test().own_request_headers;
  want.insert(own.begin(), own.end());
  CHECK(seen.headers == want);

  CHECK(fixture.exchange(get("/version"))->response().status == 200);
  CHECK(server.requests().at(1).method == "GET");
  CHECK(server.requests().at(1).headers.count("content-length") == 0);

  const std::string encoded =
      "/api/v1/a%2Fb/~x//y?fieldSelector=spec.nodeName%3D%2Cc%20d&e=%C3%A9+";
  CHECK(fixture.exchange(get(encoded))->response().status == 200);
  CHECK(server.requests().at(2).target == "/k8s/clusters/c-1" + encoded);
}

TEST_CASE("transport: a request without a body, by method") {
  struct Case {
    k8s::Method method;
    std::string length;  // empty: none is said
  };
  const auto c = GENERATE(values<Case>({{k8s::Method::kGet, ""},
                                        {k8s::Method::kDelete, ""},
                                        {k8s::Method::kPost, "0"},
                                        {k8s::Method::kPut, "0"},
                                        {k8s::Method::kPatch, "0"}}));
  FOR_EACH_TRANSPORT(fixture);
  TlsServer& server = fixture.serve(answering([](const ReceivedRequest&) { return ok("{}"); }));
  k8s::Request request;
  request.method = c.method;
  request.target = "/";
  CHECK(fixture.exchange(request)->response().status == 200);
  const auto seen = server.requests().at(0);
  CHECK(seen.method == to_string(c.method));
  CHECK(seen.header("content-length") == c.length);
  CHECK(seen.headers.count("transfer-encoding") == 0);
}

TEST_CASE("transport: a request that could smuggle in another is not sent") {
  struct Case {
    std::string name;
    std::function<void(k8s::Request&, FixedCredentials&)> spoil;
  };
  const auto c = GENERATE(values<Case>({
      {"line end in the target", [](auto& r, auto&) { r.target = "/a\r\nX: y"; }},
      {"space in the target", [](auto& r, auto&) { r.target = "/a b"; }},
      {"no path", [](auto& r, auto&) { r.target = "a"; }},
      {"empty target", [](auto& r, auto&) { r.target = ""; }},
      {"line end in a header",
       [](auto& r, auto&) {
         r.headers = {{"A", "b\r\nC: d"}};
       }},
      {"colon in a name",
       [](auto& r, auto&) {
         r.headers = {{"A: b\r\nC", "d"}};
       }},
      {"line end in the type", [](auto& r, auto&) { r.content_type = "a\nb"; }},
      {"framing",
       [](auto& r, auto&) {
         r.headers = {{"Transfer-Encoding", "chunked"}};
       }},
      {"other credentials",
       [](auto& r, auto&) {
         r.headers = {{"authorization", "x"}};
       }},
      {"line end in the token", [](auto&, auto& own) { own.token = "a\r\nX: y"; }},
      {"empty token", [](auto&, auto& own) { own.token = ""; }},
  }));
  CAPTURE(c.name);
  FOR_EACH_TRANSPORT(fixture);
  TlsServer& server = fixture.serve(answering([](const ReceivedRequest&) { return ok("{}"); }));
  auto request = post("/", "{}");
  c.spoil(request, fixture.credentials);
  SECTION("send") {
    const auto sent = fixture.exchange(request);
    CHECK(sent->error().kind == ErrorKind::kConfig);
    CHECK_FALSE(sent->error().may_have_acted);
  }
  SECTION("stream") {
    const auto streamed = fixture.stream(request);
    fixture.run_until([&] { return streamed->ended(); });
    CHECK(streamed->error.value().kind == ErrorKind::kConfig);
  }
  CHECK(server.requests().empty());
}
