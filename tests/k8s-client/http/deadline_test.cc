// Deadlines, wherever the time is lost.
#include "tests/k8s-client/http/busy_cpprest_thread.h"
#include "tests/k8s-client/http/full_port.h"
#include "tests/k8s-client/http/transport_fixture.h"

#include <thread>

using k8s::ErrorKind;
using namespace std::chrono_literals;
using namespace tests;

namespace {

k8s::Request with_deadline(k8s::Request request) {
  request.deadline = 40ms;
  return request;
}

void check_timeout(const k8s::Error& error, bool may_have_acted, const std::string& stage) {
  CHECK(error.kind == ErrorKind::kTimeout);
  CHECK(error.may_have_acted == may_have_acted);
  CHECK_THAT(error.message, Catch::Contains(stage));
}

}  // namespace

TEST_CASE("transport: deadline while connecting") {
  FOR_EACH_TRANSPORT(fixture);
  const FullPort nobody;
  fixture.endpoint.port = nobody.port();
  SECTION("the request's") {
    const auto sent = fixture.exchange(with_deadline(post("/", "{}")));
    check_timeout(sent->error(), false, "connecting");
  }
  SECTION("the connection's") {
    fixture.options.connect_timeout = 1s;
    const auto sent = fixture.exchange(post("/", "{}"));
    CHECK(sent->error().kind == ErrorKind::kConnect);
    CHECK_FALSE(sent->error().may_have_acted);
  }
  SECTION("the connection's, when cpprestsdk has not begun by then") {
    fixture.options.connect_timeout = 1s;
    auto busy = std::make_unique<BusyCpprestThread>();
    const auto sent = fixture.send(post("/", "{}"));
    const auto later = fixture.loop().after(1500ms, [&] { busy.reset(); });
    fixture.run_until([&] { return sent->ended(); });
    CHECK(sent->error().kind == ErrorKind::kConnect);
    CHECK_FALSE(sent->error().may_have_acted);
  }
  SECTION("a stream's") {
    const auto streamed = fixture.stream(with_deadline(get("/")));
    fixture.run_until([&] { return streamed->ended(); });
    check_timeout(streamed->error.value(), false, "connecting");
    CHECK(streamed->responses == 0);
  }
}

TEST_CASE("transport: the time to connect begins when cpprestsdk has come to it") {
  FOR_EACH_TRANSPORT(fixture);
  fixture.options.connect_timeout = 3s;
  fixture.serve([](ServerConnection& connection) {
    std::this_thread::sleep_for(1s);
    if (connection.handshake() && connection.read_request()) connection.send(ok("connected"));
  });
  auto busy = std::make_unique<BusyCpprestThread>();
  const auto sent = fixture.send(get("/"));
  const auto later = fixture.loop().after(2500ms, [&] { busy.reset(); });
  fixture.run_until([&] { return sent->ended(); });
  CHECK(sent->response().body == "connected");
}

TEST_CASE("transport: deadline while shaking hands") {
  FOR_EACH_TRANSPORT(fixture);
  fixture.serve([](ServerConnection& connection) { connection.wait_for_close(); });
  const auto sent = fixture.exchange(with_deadline(post("/", "{}")));
  check_timeout(sent->error(), false, "connecting");
}

TEST_CASE("transport: deadline while the server thinks, and in the middle of its answer") {
  FOR_EACH_TRANSPORT(fixture);
  const std::string begun =
      GENERATE("", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
  TlsServer& server = fixture.serve([=](ServerConnection& connection) {
    if (!connection.handshake()) return;
    if (connection.read_request()) connection.send(ok("connected"));
    if (connection.read_request() && connection.send(begun)) connection.wait_for_close();
  });
  CHECK(fixture.exchange(get("/"))->response().body == "connected");
  const auto sent = fixture.send(with_deadline(post("/", "{}")));
  // On a connection that stands it goes out without the loop, on which the deadline then passes.
  const auto end = std::chrono::steady_clock::now() + 60s;
  while (server.requests().size() < 2 && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(1ms);
  }
  REQUIRE(server.requests().size() == 2);
  fixture.run_until([&] { return sent->ended(); });
  check_timeout(sent->error(), true, "waiting for the answer");
  fixture.run_until([&] { return server.open_now() == 0; });  // the connection is not kept
}

TEST_CASE("transport: deadline while waiting for the pool") {
  Gate gate;
  FOR_EACH_TRANSPORT(fixture);
  fixture.options.max_connections = 1;
  TlsServer& server = fixture.serve([&](ServerConnection& connection) {
    if (!connection.handshake()) return;
    while (connection.read_request() && connection.wait(gate)) connection.send(ok("done"));
  });
  const auto first = fixture.send(post("/first", "{}"));
  fixture.run_until([&] { return server.requests().size() == 1; });
  const auto second = fixture.exchange(with_deadline(post("/second", "{}")));
  check_timeout(second->error(), false, "waiting for a free connection");
  gate.open();
  fixture.run_until([&] { return first->ended(); });
  CHECK(first->response().body == "done");
  CHECK(fixture.exchange(post("/third", "{}"))->response().status == 200);
  CHECK(server.requests().size() == 2);
}

TEST_CASE("transport: deadline while waiting for the rate limit") {
  FOR_EACH_TRANSPORT(fixture);
  fixture.options.qps = 0.001;
  fixture.options.burst = 1;
  TlsServer& server = fixture.serve(answering([](const ReceivedRequest&) { return ok("yes"); }));
  CHECK(fixture.exchange(get("/1"))->response().status == 200);
  check_timeout(fixture.exchange(with_deadline(get("/2")))->error(), false,
                "waiting for this client's rate limit");
  CHECK(server.requests().size() == 1);

  // Streams do not count.
  const auto streamed = fixture.stream(get("/3"));
  fixture.run_until([&] { return streamed->ended(); });
  CHECK(streamed->data == "yes");
}

TEST_CASE("transport: what has waited for the rate limit is sent") {
  FOR_EACH_TRANSPORT(fixture);
  fixture.options.qps = 20;
  fixture.options.burst = 1;
  TlsServer& server = fixture.serve(answering([](const ReceivedRequest&) { return ok("yes"); }));
  std::vector<std::shared_ptr<Sent>> sent;
  for (const char* target : {"/1", "/2", "/3"}) sent.push_back(fixture.send(get(target)));
  for (const auto& each : sent) {
    fixture.run_until([&] { return each->ended(); });
    CHECK(each->response().status == 200);
  }
  CHECK(server.requests().size() == 3);
}

TEST_CASE("transport: a stream's deadline ends with its headers, its idle limit begins there") {
  Gate more;
  FOR_EACH_TRANSPORT(fixture);
  fixture.serve([&](ServerConnection& connection) {
    if (!connection.handshake() || !connection.read_request()) return;
    connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n");
    if (connection.wait(more)) connection.send("3\r\ntwo\r\n");
    connection.wait_for_close();
  });
  auto request = get("/watch");
  SECTION("no idle limit: the deadline passes unnoticed") {
    // Long enough for a handshake on a machine that is busy with other things.
    request.deadline = 2s;
    const auto streamed = fixture.stream(request);
    fixture.run_until([&] { return streamed->data == "one" || streamed->ended(); });
    INFO((streamed->error ? streamed->error->message : std::string("no error")));
    REQUIRE_FALSE(streamed->ended());
    bool later = false;
    const auto timer = fixture.loop().after(2s + 100ms, [&] {
      later = true;
      fixture.changed();
    });
    fixture.run_until([&] { return later; });
    CHECK(streamed->ends == 0);
    more.open();
    fixture.run_until([&] { return streamed->data == "onetwo"; });
    CHECK(streamed->ends == 0);
  }
  SECTION("idle limit") {
    request.idle_limit = 1s;  // so long that what follows the headers is there by then
    const auto streamed = fixture.stream(request);
    fixture.run_until([&] { return streamed->ended(); });
    CHECK(streamed->data == "one");
    CHECK(streamed->error.value().kind == ErrorKind::kTimeout);
    CHECK(streamed->error.value().may_have_acted);
    CHECK_THAT(streamed->error.value().message, Catch::Contains("no data for 1000 ms"));
    CHECK(streamed->ends == 1);
  }
}

TEST_CASE("transport: deadline of a stream whose headers do not come") {
  FOR_EACH_TRANSPORT(fixture);
  fixture.serve([](ServerConnection& connection) {
    if (connection.handshake() && connection.read_request()) connection.wait_for_close();
  });
  auto request = get("/watch");
  request.deadline = 2s;  // connecting takes a part of it
  const auto streamed = fixture.stream(request);
  fixture.run_until([&] { return streamed->ended(); });
  check_timeout(streamed->error.value(), true, "waiting for the answer");
  CHECK(streamed->responses == 0);
}
