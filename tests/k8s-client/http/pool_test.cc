// Connections: how many, how long they are kept, and what happens when the server closes one.
#include "tests/k8s-client/http/refusing_port.h"
#include "tests/k8s-client/http/transport_fixture.h"

#include <algorithm>
#include <atomic>

using k8s::ErrorKind;
using namespace std::chrono_literals;
using namespace tests;

TEST_CASE("transport: one connection serves one request after the other") {
  FOR_EACH_TRANSPORT(fixture);
  TlsServer& server = fixture.serve(
      answering([](const ReceivedRequest& request) { return ok("you said " + request.body); }));
  for (const std::string body : {"a", "b", "c"}) {
    CHECK(fixture.exchange(post("/", body))->response().body == "you said " + body);
  }
  CHECK(server.accepted() == 1);
}

TEST_CASE("transport: without TLS it works the same") {
  FOR_EACH_TRANSPORT(fixture);
  ServerOptions how;
  how.tls = false;
  TlsServer& server = fixture.serve(how, answering([](const ReceivedRequest&) { return ok("p"); }));
  CHECK(fixture.exchange(get("/1"))->response().body == "p");
  CHECK(fixture.exchange(get("/2"))->response().body == "p");
  CHECK(server.accepted() == 1);
}

TEST_CASE("transport: a thousand requests over eight connections") {
  FOR_EACH_TRANSPORT(fixture);
  fixture.options.max_connections = 8;
  TlsServer& server =
      fixture.serve(answering([](const ReceivedRequest& request) { return ok(request.body); }));
  std::vector<std::shared_ptr<Sent>> all;
  std::size_t ended = 0;
  for (int i = 0; i < 1000; ++i) all.push_back(fixture.send(post("/", std::to_string(i))));
  fixture.run_until([&] {
    while (ended < all.size() && all[ended]->ended()) ++ended;
    return ended == all.size();
  });
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(all[i]->response().body == std::to_string(i));
  }
  CHECK(server.accepted() == 8);
  CHECK(server.open_at_most() == 8);
  CHECK(server.requests().size() == 1000);
}

TEST_CASE("transport: a connection that becomes free is taken before one that is still opened") {
  Gate answer;
  Gate handshake;
  std::atomic<int> connections{0};
  FOR_EACH_TRANSPORT(fixture);
  if (fixture.under_test().connects_when_used) return;
  TlsServer& server = fixture.serve([&](ServerConnection& connection) {
    if (++connections > 1 && !connection.wait(handshake)) return;
    if (!connection.handshake()) return;
    while (const auto request = connection.read_request()) {
      if (request->target == "/first" && !connection.wait(answer)) return;
      connection.send(ok(request->target));
    }
  });
  const auto first = fixture.send(get("/first"));
  fixture.run_until([&] { return server.requests().size() == 1; });
  const auto second = fixture.send(get("/second"));
  fixture.run_until([&] { return server.accepted() == 2; });
  answer.open();
  fixture.run_until([&] { return second->ended(); });
  CHECK(second->response().body == "/second");
  CHECK(first->response().body == "/first");
  // Nobody waits for the new connection any more; it is there for others.
  handshake.open();
  std::vector<std::shared_ptr<Sent>> more;
  for (int i = 0; i < 2; ++i) more.push_back(fixture.send(get("/more")));
  fixture.run_until([&] { return more[0]->ended() && more[1]->ended(); });
  CHECK(server.accepted() <= 3);
}

TEST_CASE("transport: a server that takes its time is not asked for all connections at once") {
  Gate handshake;
  FOR_EACH_TRANSPORT(fixture);
  if (fixture.under_test().connects_when_used) return;
  TlsServer& server = fixture.serve([&](ServerConnection& connection) {
    if (!connection.wait(handshake) || !connection.handshake()) return;
    while (const auto request = connection.read_request()) connection.send(ok(request->target));
  });
  std::vector<std::shared_ptr<Sent>> all;
  for (int i = 0; i < 32; ++i) all.push_back(fixture.send(get("/" + std::to_string(i))));
  fixture.run_until([&] { return server.accepted() == 4; });
  fixture.run_due();
  CHECK(server.accepted() == 4);
  handshake.open();
  fixture.run_until([&] {
    return std::all_of(all.begin(), all.end(), [](const auto& one) { return one->ended(); });
  });
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(all[i]->response().body == "/" + std::to_string(i));
  }
}

TEST_CASE("transport: requests that wait go in their order, streams beside them") {
  Gate gate;
  FOR_EACH_TRANSPORT(fixture);
  fixture.options.max_connections = 1;
  TlsServer& server = fixture.serve([&](ServerConnection& connection) {
    if (!connection.handshake()) return;
    while (const auto request = connection.read_request()) {
      if (request->target == "/0" && !connection.wait(gate)) return;
      connection.send(ok(request->target));
    }
  });
  std::vector<std::shared_ptr<Sent>> all;
  for (int i = 0; i < 5; ++i) all.push_back(fixture.send(get("/" + std::to_string(i))));
  const auto streamed = fixture.stream(get("/stream"));
  fixture.run_until([&] { return streamed->ended(); });
  CHECK(streamed->data == "/stream");
  gate.open();
  fixture.run_until([&] { return all.back()->ended(); });
  std::vector<std::string> order;
  for (const auto& request : server.requests()) {
    if (request.target != "/stream") order.push_back(request.target);
  }
  CHECK(order == std::vector<std::string>{"/0", "/1", "/2", "/3", "/4"});
  CHECK(server.accepted() == 2);
}

TEST_CASE("transport: a server that means to close is not asked again on that connection") {
  FOR_EACH_TRANSPORT(fixture);
  const std::string last =
      GENERATE("HTTP/1.1 200 OK\r\nConnection: close\r\n", "HTTP/1.0 200 OK\r\n");
  TlsServer& server = fixture.serve([&](ServerConnection& connection) {
    if (!connection.handshake()) return;
    while (connection.read_request()) connection.send(last + "Content-Length: 2\r\n\r\nok");
  });
  CHECK(fixture.exchange(post("/1", "{}"))->response().body == "ok");
  CHECK(fixture.exchange(post("/2", "{}"))->response().body == "ok");
  CHECK(server.accepted() == 2);
}

TEST_CASE("transport: bytes that nobody asked for are not taken for the next answer") {
  FOR_EACH_TRANSPORT(fixture);
  TlsServer& server = fixture.serve([](ServerConnection& connection) {
    if (!connection.handshake()) return;
    while (const auto request = connection.read_request()) {
      connection.send(ok(request->target) + ok("poison"));
    }
  });
  CHECK(fixture.exchange(get("/1"))->response().body == "/1");
  CHECK(fixture.exchange(get("/2"))->response().body == "/2");
  // Who does not see that they were too many drops them.
  CHECK(server.accepted() == (fixture.under_test().takes_any_bytes ? 1 : 2));
}

TEST_CASE("transport: a connection that the server has closed meanwhile is found out before use") {
  const bool politely = GENERATE(true, false);
  Gate close;
  FOR_EACH_TRANSPORT(fixture);
  TlsServer& server = fixture.serve([&](ServerConnection& connection) {
    if (!connection.handshake() || !connection.read_request()) return;
    connection.send(ok("once"));
    if (connection.number() == 1) {
      connection.wait(close);
      if (!politely) connection.drop();
      return;
    }
    connection.wait_for_close();
  });
  CHECK(fixture.exchange(post("/1", "{}"))->response().body == "once");
  close.open();
  fixture.run_until([&] { return server.open_now() == 0; });
  // Not repeatable, and yet it succeeds: the dead connection is not even tried.
  CHECK(fixture.exchange(post("/2", "{}"))->response().body == "once");
  CHECK(server.requests().size() == 2);
}

TEST_CASE("transport: a server that closes while the next request is on its way") {
  const bool abruptly = GENERATE(true, false);
  FOR_EACH_TRANSPORT(fixture);
  // The second request of a connection is acted upon, but never answered.
  TlsServer& server = fixture.serve([&](ServerConnection& connection) {
    if (!connection.handshake() || !connection.read_request()) return;
    connection.send(ok("first"));
    if (connection.read_request() && abruptly) connection.reset();
  });
  CHECK(fixture.exchange(post("/1", "{}"))->response().body == "first");
  SECTION("not repeatable: never sent twice, and said to be uncertain") {
    auto request = post("/2", "{}");
    SECTION("with a body") {}
    SECTION("without one") { request.body.clear(); }
    SECTION("read, but not said to be repeatable") { request.method = k8s::Method::kGet; }
    SECTION("deletion") { request.method = k8s::Method::kDelete; }
    const auto sent = fixture.exchange(request);
    CHECK(sent->error().kind == ErrorKind::kConnection);
    CHECK(sent->error().may_have_acted);
    CHECK(server.requests().size() == 2);
    CHECK(server.accepted() == 1);
  }
  SECTION("repeatable: sent once more, on a fresh connection") {
    CHECK(fixture.exchange(get("/2"))->response().body == "first");
    CHECK(server.requests().size() == 3);
    CHECK(server.accepted() == 2);
  }
}

TEST_CASE("transport: a fresh connection that breaks is not tried again") {
  FOR_EACH_TRANSPORT(fixture);
  TlsServer& server = fixture.serve([](ServerConnection& connection) {
    if (connection.handshake()) (void)connection.read_request();
  });
  CHECK(fixture.exchange(get("/"))->error().kind == ErrorKind::kConnection);
  CHECK(server.requests().size() == 1);
}

TEST_CASE("transport: an answer that broke off in the middle is not asked for again") {
  FOR_EACH_TRANSPORT(fixture);
  TlsServer& server = fixture.serve([](ServerConnection& connection) {
    if (!connection.handshake() || !connection.read_request()) return;
    connection.send(ok("whole"));
    if (connection.read_request()) connection.send("HTTP/1.1 200 OK\r\nContent-Le");
  });
  CHECK(fixture.exchange(get("/1"))->response().body == "whole");
  const auto sent = fixture.exchange(get("/2"));
  if (fixture.under_test().takes_any_bytes) {
    // A part of a header is not seen, so it is like no answer at all to a request that is
    // repeatable.
    CHECK(sent->response().body == "whole");
    CHECK(server.requests().size() == 3);
    return;
  }
  CHECK(sent->error().kind == ErrorKind::kConnection);
  CHECK(server.requests().size() == 2);
}

TEST_CASE("transport: idle connections are closed after their limit") {
  FOR_EACH_TRANSPORT(fixture);
  fixture.options.idle_connection_limit = 1s;
  TlsServer& server = fixture.serve(answering([](const ReceivedRequest&) { return ok("yes"); }));
  CHECK(fixture.exchange(get("/"))->response().body == "yes");
  fixture.run_until([&] { return server.open_now() == 0; });
  CHECK(server.closed_by_client() == 1);
  CHECK(fixture.exchange(post("/", "{}"))->response().body == "yes");
  CHECK(server.accepted() == 2);
}

TEST_CASE("transport: nobody listens") {
  FOR_EACH_TRANSPORT(fixture);
  const RefusingPort nobody;
  fixture.endpoint.port = nobody.port();
  // More than there are places: each failure must free its own.
  fixture.options.max_connections = 2;
  std::vector<std::shared_ptr<Sent>> all;
  for (int i = 0; i < 10; ++i) all.push_back(fixture.send(post("/", "{}")));
  fixture.run_until([&] { return all.back()->ended(); });
  for (const auto& sent : all) {
    CHECK(sent->error().kind == ErrorKind::kConnect);
    CHECK_FALSE(sent->error().may_have_acted);
    CHECK_THAT(sent->error().message, Catch::Contains("refused"));
  }
}

TEST_CASE("transport: a name that does not exist") {
  FOR_EACH_TRANSPORT(fixture);
  fixture.endpoint.host = "does-not-exist.invalid";
  const auto sent = fixture.exchange(get("/"));
  CHECK(sent->error().kind == ErrorKind::kConnect);
  CHECK_THAT(sent->error().message, Catch::Contains("does-not-exist.invalid"));
}
