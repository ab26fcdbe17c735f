// Answers taken as they come.
#include "tests/k8s-client/http/transport_fixture.h"

#include <atomic>

using k8s::ErrorKind;
using namespace std::chrono_literals;
using namespace tests;

namespace {

std::string chunk(const std::string& bytes) {
  std::string size;
  for (auto rest = bytes.size(); rest > 0; rest /= 16) {
    size.insert(size.begin(), "0123456789abcdef"[rest % 16]);
  }
  return size + "\r\n" + bytes + "\r\n";
}

constexpr auto kChunkedHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

}  // namespace

TEST_CASE("transport: a stream's bytes come while the answer is still going on") {
  Gate first;
  Gate second;
  FOR_EACH_TRANSPORT(fixture);
  fixture.serve([&](ServerConnection& connection) {
    if (!connection.handshake() || !connection.read_request()) return;
    connection.send(kChunkedHead);
    if (!connection.wait(first)) return;
    connection.send(chunk("{\"type\":\"ADDED\"}\n"));
    if (!connection.wait(second)) return;
    connection.send(chunk("{\"type\":\"DELETED\"}\n") + "0\r\n\r\n");
    connection.wait_for_close();
  });
  const auto streamed = fixture.stream(get("/watch"));
  fixture.run_until([&] { return streamed->responses == 1; });
  CHECK(streamed->head.status == 200);
  CHECK(streamed->data.empty());
  first.open();
  fixture.run_until([&] { return !streamed->data.empty(); });
  CHECK(streamed->data == "{\"type\":\"ADDED\"}\n");
  CHECK_FALSE(streamed->ended());
  second.open();
  fixture.run_until([&] { return streamed->ended(); });
  CHECK(streamed->data == "{\"type\":\"ADDED\"}\n{\"type\":\"DELETED\"}\n");
  CHECK(streamed->error.has_value() == false);
}

TEST_CASE("transport: a stream's connection is its own and closed at its end") {
  FOR_EACH_TRANSPORT(fixture);
  fixture.options.max_connections = 1;
  TlsServer& server =
      fixture.serve(answering([](const ReceivedRequest& r) { return ok(r.target); }));
  CHECK(fixture.exchange(get("/pooled"))->response().body == "/pooled");
  const auto streamed = fixture.stream(get("/stream"));
  fixture.run_until([&] { return streamed->ended() && server.open_now() == 1; });
  CHECK(fixture.exchange(get("/pooled"))->response().body == "/pooled");
  CHECK(server.accepted() == 2);
  CHECK(server.requests().back().connection == 1);
}

TEST_CASE("transport: a reader that stops holds the server back") {
  // Far more than sockets hold between them on a loopback device.
  constexpr std::size_t kTooMuch = 200'000'000;
  const std::string piece = chunk(std::string(60'000, 'x'));
  std::atomic<std::size_t> sent = 0;
  Gate stuck;
  FOR_EACH_TRANSPORT(fixture);
  fixture.serve([&](ServerConnection& connection) {
    if (!connection.handshake() || !connection.read_request()) return;
    connection.send(kChunkedHead);
    connection.give_up_sending_after(300ms);
    while (sent < kTooMuch && connection.send(piece)) sent += piece.size();
    stuck.open();
  });
  const auto streamed = fixture.stream(get("/watch"));
  // The reader does not come back before the server could send no more.
  streamed->during_data = [&] { stuck.wait({}); };
  fixture.run_until([&] { return !streamed->data.empty(); });
  CHECK(sent < kTooMuch);
  fixture.run_until([&] { return streamed->data.size() > sent / 2; });  // and then goes on
}

TEST_CASE("transport: an error status of a stream brings its body too") {
  FOR_EACH_TRANSPORT(fixture);
  fixture.serve(answering([](const ReceivedRequest&) { return answer(410, "", "too old"); }));
  const auto streamed = fixture.stream(get("/watch"));
  fixture.run_until([&] { return streamed->ended(); });
  CHECK(streamed->head.status == 410);
  CHECK(streamed->data == "too old");
  CHECK(streamed->error.has_value() == false);
}

TEST_CASE("transport: many streams at a time, beyond the pool's bound") {
  FOR_EACH_TRANSPORT(fixture);
  fixture.options.max_connections = 1;
  TlsServer& server = fixture.serve([](ServerConnection& connection) {
    if (!connection.handshake()) return;
    const auto request = connection.read_request();
    if (!request) return;
    connection.send(kChunkedHead + chunk(request->target));
    connection.wait_for_close();
  });
  std::vector<std::shared_ptr<Streamed>> all;
  for (int i = 0; i < 20; ++i) all.push_back(fixture.stream(get("/" + std::to_string(i))));
  for (int i = 0; i < 20; ++i) {
    const auto& streamed = all[static_cast<std::size_t>(i)];
    fixture.run_until([&] { return streamed->data == "/" + std::to_string(i); });
  }
  CHECK(server.open_now() == 20);
  for (const auto& streamed : all) streamed->call->cancel();
  fixture.run_until([&] { return server.open_now() == 0; });
}
