// Each request ends once: cancelled at any stage, or when the transport goes.
#include "tests/k8s-client/http/transport_fixture.h"

using k8s::ErrorKind;
using namespace tests;

namespace {

// A server that says `begun` to each request and then waits for ever.
Script stuck_after(const std::string& begun) {
  return [=](ServerConnection& connection) {
    if (!connection.handshake()) return;
    if (connection.read_request() && connection.send(begun)) connection.wait_for_close();
  };
}

void check_cancelled(const k8s::Error& error, bool may_have_acted) {
  CHECK(error.kind == ErrorKind::kCancelled);
  CHECK(error.may_have_acted == may_have_acted);
}

}  // namespace

TEST_CASE("transport: cancelled before anything happened") {
  FOR_EACH_TRANSPORT(fixture);
  TlsServer& server = fixture.serve(answering([](const ReceivedRequest&) { return ok("no"); }));
  const auto sent = fixture.send(post("/", "{}"));
  sent->call->cancel();
  CHECK(sent->callbacks == 0);  // not from within
  fixture.run_until([&] { return sent->ended(); });
  check_cancelled(sent->error(), false);
  sent->call->cancel();
  fixture.run_due();
  CHECK(sent->callbacks == 1);
  CHECK(server.requests().empty());
}

TEST_CASE("transport: cancelled while shaking hands") {
  FOR_EACH_TRANSPORT(fixture);
  // What cpprestsdk has begun to open stays open until then.
  fixture.options.connect_timeout = std::chrono::seconds(1);
  TlsServer& server =
      fixture.serve([](ServerConnection& connection) { connection.wait_for_close(); });
  const auto sent = fixture.send(post("/", "{}"));
  fixture.run_until([&] { return server.accepted() == 1; });
  sent->call->cancel();
  fixture.run_until([&] { return sent->ended() && server.open_now() == 0; });
  check_cancelled(sent->error(), false);
}

TEST_CASE("transport: cancelled while waiting for the pool") {
  FOR_EACH_TRANSPORT(fixture);
  fixture.options.max_connections = 1;
  TlsServer& server = fixture.serve(stuck_after(""));
  const auto first = fixture.send(post("/first", "{}"));
  const auto second = fixture.send(post("/second", "{}"));
  fixture.run_until([&] { return server.requests().size() == 1; });
  second->call->cancel();
  fixture.run_until([&] { return second->ended(); });
  check_cancelled(second->error(), false);
  CHECK_FALSE(first->ended());
}

TEST_CASE("transport: cancelled while waiting for the answer frees the place in the pool",
          "[threads]") {
  FOR_EACH_TRANSPORT(fixture);
  fixture.options.max_connections = 1;
  TlsServer& server = fixture.serve([&](ServerConnection& connection) {
    if (!connection.handshake()) return;
    while (const auto request = connection.read_request()) {
      if (request->target == "/stuck") return connection.wait_for_close();
      connection.send(ok("fine"));
    }
  });
  const auto stuck = fixture.send(post("/stuck", "{}"));
  fixture.run_until([&] { return server.requests().size() == 1; });
  const auto next = fixture.send(post("/next", "{}"));
  stuck->call->cancel();
  fixture.run_until([&] { return next->ended() && stuck->ended(); });
  check_cancelled(stuck->error(), true);
  CHECK(next->response().body == "fine");
  CHECK(server.accepted() == 2);
}

TEST_CASE("transport: a stream cancelled from within its own data gets no more of it",
          "[threads]") {
  FOR_EACH_TRANSPORT(fixture);
  TlsServer& server = fixture.serve(
      stuck_after("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n3\r\ntwo\r\n"));
  const auto streamed = fixture.stream(get("/watch"));
  streamed->during_data = [&] { streamed->call->cancel(); };
  fixture.run_until([&] { return streamed->ended() && server.open_now() == 0; });
  CHECK(streamed->data == "one");
  check_cancelled(streamed->error.value(), true);
  CHECK(streamed->ends == 1);
}

TEST_CASE("transport: forgetting the call does not cancel it") {
  FOR_EACH_TRANSPORT(fixture);
  fixture.serve(answering([](const ReceivedRequest&) { return ok("fine"); }));
  const auto sent = fixture.send(get("/"));
  sent->call.reset();
  fixture.run_until([&] { return sent->ended(); });
  CHECK(sent->response().body == "fine");
}

TEST_CASE("transport: destroyed with calls at every stage, each ends once", "[threads]") {
  FOR_EACH_TRANSPORT(fixture);
  fixture.options.max_connections = 2;
  TlsServer& server = fixture.serve([](ServerConnection& connection) {
    if (!connection.handshake()) return;
    const auto request = connection.read_request();
    if (!request) return;
    if (request->target == "/half")
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx");
    if (request->target == "/watch") {
      connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n");
    }
    connection.wait_for_close();
  });
  const auto unanswered = fixture.send(post("/unanswered", "{}"));
  const auto half = fixture.send(post("/half", "{}"));
  const auto queued = fixture.send(post("/queued", "{}"));
  const auto watch = fixture.stream(get("/watch"));
  fixture.run_until([&] { return server.requests().size() == 3 && watch->data == "one"; });
  const auto connecting = fixture.stream(get("/late"));
  const auto cancelled = fixture.send(post("/cancelled", "{}"));
  cancelled->call->cancel();

  fixture.destroy_transport();
  check_cancelled(unanswered->error(), true);
  check_cancelled(half->error(), true);
  check_cancelled(queued->error(), false);
  check_cancelled(cancelled->error(), false);
  check_cancelled(watch->error.value(), true);
  check_cancelled(connecting->error.value(), false);
  unanswered->call->cancel();  // a call may outlive its transport
  watch->call->cancel();
  fixture.run_until([&] { return server.open_now() == 0; });
  for (const auto& sent : {unanswered, half, queued, cancelled}) CHECK(sent->callbacks == 1);
  for (const auto& streamed : {watch, connecting}) CHECK(streamed->ends == 1);
}

TEST_CASE("transport: destroyed from within a callback", "[threads]") {
  FOR_EACH_TRANSPORT(fixture);
  fixture.serve([](ServerConnection& connection) {
    if (!connection.handshake()) return;
    const auto request = connection.read_request();
    if (!request) return;
    if (request->target == "/watch") {
      connection.send(
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n3\r\ntwo\r\n");
    }
    connection.wait_for_close();
  });
  const auto other = fixture.send(post("/other", "{}"));
  const auto streamed = fixture.stream(get("/watch"));
  streamed->during_data = [&] { fixture.destroy_transport(); };
  fixture.run_until([&] { return streamed->ended(); });
  CHECK(streamed->data == "one");
  CHECK(streamed->ends == 1);
  check_cancelled(streamed->error.value(), true);
  CHECK(other->error().kind == ErrorKind::kCancelled);
}

TEST_CASE("transport: what is asked for while it is being destroyed is cancelled too") {
  FOR_EACH_TRANSPORT(fixture);
  fixture.options.max_connections = 1;
  fixture.serve([](ServerConnection& connection) { connection.wait_for_close(); });
  k8s::Transport& transport = fixture.transport();
  int endings = 0;
  const auto count = [&](const k8s::Result<k8s::Response>& result) {
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error().kind == ErrorKind::kCancelled);
    ++endings;
  };
  transport.send(get("/"), [&](const k8s::Result<k8s::Response>& result) {
    count(result);
    // More than there are places, so that the last would have to wait for one.
    for (int i = 0; i < 3; ++i) transport.send(get("/again"), count);
  });
  fixture.destroy_transport();
  fixture.run_due();
  CHECK(endings == 4);
}
