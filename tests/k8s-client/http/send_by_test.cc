// Requests that must not leave after a certain moment, however long they had to wait here.
#include "tests/k8s-client/http/transport_fixture.h"

using k8s::BootClock;
using k8s::ErrorKind;
using namespace std::chrono_literals;
using namespace tests;

namespace {

k8s::Request sent_by(k8s::Request request, BootClock::time_point limit) {
  request.send_by = limit;
  return request;
}

void check_too_late(const k8s::Error& error) {
  CHECK(error.kind == ErrorKind::kTimeout);
  CHECK(error.too_late);
  CHECK_FALSE(error.may_have_acted);
  CHECK_THAT(error.message, Catch::Contains("too late to be sent"));
}

}  // namespace

TEST_CASE("transport: a request is not sent after its time, on a new connection or a kept one") {
  FOR_EACH_TRANSPORT(fixture);
  TlsServer& server = fixture.serve(answering([](const ReceivedRequest&) { return ok("yes"); }));
  const auto past = BootClock::now() - 1ms;
  const auto future = BootClock::now() + 1h;
  check_too_late(fixture.exchange(sent_by(post("/late", "{}"), past))->error());
  CHECK(fixture.exchange(sent_by(post("/1", "{}"), future))->response().status == 200);
  check_too_late(fixture.exchange(sent_by(post("/late", "{}"), past))->error());
  CHECK(fixture.exchange(post("/2", "{}"))->response().status == 200);
  CHECK(server.requests().size() == 2);
}

TEST_CASE("transport: a request whose time passes while it waits for the pool is not sent") {
  Gate gate;
  FOR_EACH_TRANSPORT(fixture);
  fixture.options.max_connections = 1;
  TlsServer& server = fixture.serve([&](ServerConnection& connection) {
    if (!connection.handshake()) return;
    while (connection.read_request() && connection.wait(gate)) connection.send(ok("done"));
  });
  const auto first = fixture.send(post("/first", "{}"));
  fixture.run_until([&] { return server.requests().size() == 1; });
  const auto second = fixture.send(sent_by(post("/second", "{}"), BootClock::now() + 20ms));
  bool too_late = false;
  const auto timer = fixture.loop().after(30ms, [&] {
    too_late = true;
    fixture.changed();
  });
  fixture.run_until([&] { return too_late; });
  gate.open();
  fixture.run_until([&] { return first->ended() && second->ended(); });
  CHECK(first->response().body == "done");
  check_too_late(second->error());
  CHECK(server.requests().size() == 1);
}
