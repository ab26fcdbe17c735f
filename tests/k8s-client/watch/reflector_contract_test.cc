// What a reflector promises its user, whatever the server answers: reflector_test.cc has those.
#include "k8s-client/watch/reflector.h"
#include "k8s-client/watch/watcher.h"
#include "tests/k8s-client/watch/watch_script.h"
#include "tests/support/catch.h"

#include <algorithm>
#include <string>
#include <vector>

namespace k8s {
namespace {

using tests::bookmark_line;
using tests::error_line;
using tests::event_line;
using tests::list_request;
using tests::paged;
using tests::pod_json;
using tests::WatchScript;

using Log = std::vector<std::string>;

TEST_CASE("Retry-After is waited for", "[watch]") {
  WatchScript script(paged());
  script.start();
  script.refuse(429, "TooManyRequests", "busy", {{"Retry-After", "25"}});
  CHECK(script.last_delay() == std::chrono::seconds{25});
  script.wait();
  script.page(5, "", {});
  script.open();
  script.send(error_line(429, "TooManyRequests", "busy", 28));
  CHECK(script.last_delay() == std::chrono::seconds{28});
}

TEST_CASE("Retry-After is waited for as long as the options say, no longer", "[watch]") {
  ReflectorOptions options = paged();
  options.back_off.max_retry_after = std::chrono::seconds{10};
  WatchScript script(options);
  script.start();
  script.refuse(429, "TooManyRequests", "busy", {{"Retry-After", "300"}});
  CHECK(script.last_delay() == std::chrono::seconds{10});
}

TEST_CASE("Retry-After is waited for before a refused streamed list is asked for in pages",
          "[watch]") {
  WatchScript script(ReflectorOptions{});
  script.start();
  script.refuse(503, "ServiceUnavailable", "starting", {{"Retry-After", "25"}});
  CHECK(script.last_delay() == std::chrono::seconds{25});
  CHECK(script.log().size() == 2);
  script.wait();
  CHECK(script.log().back() == list_request());
}

TEST_CASE("nothing is told after stop, which may come from within a callback", "[watch]") {
  WatchScript script(paged());
  script.start();
  script.page(5, "", {});
  script.open();
  const Log before = script.log();
  SECTION("during a watch") {
    script.reflector().stop();
    script.send(event_line("ADDED", pod_json("b", "2", 6)));
    script.advance(std::chrono::hours{1});
  }
  SECTION("during a back-off") {
    script.break_off(ErrorKind::kConnection);
    const Log with_problem = script.log();
    script.reflector().stop();
    script.advance(std::chrono::hours{1});
    CHECK(script.log() == with_problem);
    return;
  }
  CHECK(script.log() == before);
}

TEST_CASE("a reflector may be destroyed by what it calls", "[watch]") {
  tests::ManualLoop loop;
  tests::FakeTransport transport(loop);
  std::unique_ptr<Reflector<Pod>> reflector;
  int upserts = 0;
  ReflectorHandler<Pod> handler;
  handler.on_upsert = [&](const Pod&) {
    ++upserts;
    reflector.reset();
  };
  reflector = std::make_unique<Reflector<Pod>>(
      transport, loop, ResourcePath{"/api/v1/pods", "", ""}, handler, paged());
  reflector->start();
  transport.next()->respond(
      200, tests::list_body(5, "", {pod_json("a", "1", 3), pod_json("b", "2", 4)}));
  loop.run_ready();
  CHECK(upserts == 1);
  CHECK_FALSE(transport.has_next());
}

TEST_CASE("selectors reach the server whatever they contain", "[watch]") {
  tests::ManualLoop loop;
  tests::FakeTransport transport(loop);
  Reflector<Pod> reflector(
      transport, loop,
      {"/api/v1/pods", "status.phase!=Succeeded,status.phase!=Failed", "team in (a, b)"}, {},
      paged());
  reflector.start();
  CHECK(transport.next()->request().target ==
        "/api/v1/pods?fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed"
        "&labelSelector=team%20in%20%28a%2C%20b%29&limit=500");
}

TEST_CASE("the last contact is the last thing of use that came", "[watch]") {
  WatchScript script(paged());
  CHECK(script.reflector().last_contact() == EventLoop::Clock::time_point{});
  script.start();
  script.refuse(500, "InternalError");
  CHECK(script.reflector().last_contact() == EventLoop::Clock::time_point{});
  script.wait();
  script.page(5, "", {});
  CHECK(script.reflector().last_contact() == script.loop().now());
  script.open();
  script.advance(std::chrono::seconds{60});
  script.send(bookmark_line(6));
  CHECK(script.reflector().last_contact() == script.loop().now());
  const auto before = script.loop().now();
  script.advance(std::chrono::seconds{60});
  script.send("garbage\n");
  CHECK(script.reflector().last_contact() == before);
}

TEST_CASE("an optional kind that is absent is an answer like any other", "[watch]") {
  ReflectorOptions options;
  options.optional = true;
  options.hidden_after = std::chrono::seconds{0};
  const int status = GENERATE(403, 404);
  WatchScript script(options);
  script.start();
  script.refuse(status, "");
  script.refuse(status, "");
  CHECK(script.reflector().last_contact() == script.loop().now());
  script.advance(options.absent_interval);
  script.refuse(status, "");
  script.refuse(status, "");
  CHECK(script.reflector().last_contact() == script.loop().now());
  CHECK(script.recoveries() == 0);  // it is a problem as long as it lasts
}

TEST_CASE("a server that refuses a kind while it starts has not said that there is none",
          "[watch]") {
  ReflectorOptions options = paged();
  options.optional = true;
  options.back_off = {
      .first = std::chrono::seconds{1}, .limit = std::chrono::seconds{1}, .jitter = 0};
  // Once a second.
  const auto refuse = [](WatchScript& script, int times) {
    for (int i = 0; i < times; ++i) {
      script.refuse(403, "Forbidden");
      script.wait();
    }
  };
  const auto is_synced = [](const WatchScript& script) {
    return std::count(script.log().begin(), script.log().end(), "synced") > 0;
  };
  SECTION("it never counts as absent") {
    WatchScript script(options);
    script.start();
    refuse(script, 7'200);
    CHECK_FALSE(is_synced(script));
    CHECK(script.presence().empty());
    CHECK(script.reflector().last_contact() == EventLoop::Clock::time_point{});
    script.page(5, "", {});
    CHECK(is_synced(script));
    CHECK(script.presence() == std::vector<bool>{true});
    CHECK(script.recoveries() == 1);
  }
  options.hidden_after = std::chrono::seconds{30};
  SECTION("it does once that has lasted") {
    WatchScript script(options);
    script.start();
    refuse(script, 30);
    CHECK_FALSE(is_synced(script));
    script.refuse(403, "Forbidden");
    CHECK(is_synced(script));
    CHECK(script.presence() == std::vector<bool>{false});
  }
  SECTION("an answer in between begins that time anew") {
    WatchScript script(options);
    script.start();
    refuse(script, 30);
    script.page(5, "", {});
    refuse(script, 30);
    CHECK(script.presence() == std::vector<bool>{true});
  }
}

TEST_CASE("that an optional kind comes and goes is told once each", "[watch]") {
  ReflectorOptions options = paged();
  options.optional = true;
  options.absent_interval = std::chrono::seconds{10};
  WatchScript script(options);
  script.start();
  script.refuse(404, "NotFound");
  script.advance(options.absent_interval);
  script.refuse(404, "NotFound");
  CHECK(script.presence() == std::vector<bool>{false});
  script.advance(options.absent_interval);
  script.page(5, "", {});
  CHECK(script.presence() == std::vector<bool>{false, true});
  // Its definition is deleted: the server ends the watch, and knows no such kind any more.
  script.refuse(404, "NotFound");
  script.wait();
  script.refuse(404, "NotFound");
  CHECK(script.presence() == std::vector<bool>{false, true});
  script.advance(options.gone_after);
  script.refuse(404, "NotFound");
  CHECK(script.presence() == std::vector<bool>{false, true, false});
}

TEST_CASE("a list that breaks off at the same object each time is no contact", "[watch]") {
  const std::string broken = R"({"metadata":{"name":"b","uid":"2"},"spec":5})";
  WatchScript script(ReflectorOptions{});
  script.start();
  script.open();
  script.send(bookmark_line(5, true));
  const auto before = script.reflector().last_contact();
  CHECK(before == script.loop().now());
  script.advance(std::chrono::seconds{60});
  script.send(event_line("ADDED", broken));
  for (int attempt = 0; attempt < 3; ++attempt) {
    script.wait();
    script.open();
    script.send(event_line("ADDED", pod_json("a", "1", 3)) + event_line("ADDED", broken));
    script.page(6, "next", {pod_json("a", "1", 3)});
    script.page(6, "", {broken});
  }
  CHECK(script.reflector().last_contact() == before);
}

TEST_CASE("an object that cannot be read is put aside, and told of once", "[watch]") {
  const auto broken = [](const std::string& name, const std::string& uid, int version,
                         const std::string& spec = R"({"containers":5})") {
    std::string json = pod_json(name, uid, version);
    json.pop_back();
    return json + R"(,"spec":)" + spec + "}";
  };
  const std::string on_node = R"({"containers":5,"nodeName":"n"})";
  const std::string of_a = ": Pod \"ml/a\": spec.containers: must be a list, found a number";
  const std::string of_b = ": Pod \"ml/b\": spec.containers: must be a list, found a number";
  const std::string list = "? list /api/v1/pods";
  const std::string watch = "? watch /api/v1/pods";
  tests::run({{"a page: the others of it come, and the list is complete",
               [&](WatchScript& s) {
                 s.page(5, "", {broken("b", "2", 4), pod_json("c", "3", 4)});
               },
               {list_request(), "+ c/3@4", list + of_b, "synced", tests::watch_request("5")}},
              {"a pod that has a node has something that stands in for it",
               [&](WatchScript& s) { s.page(5, "", {broken("b", "2", 4, on_node)}); },
               {list_request(), list + of_b, "+ b/2@4", "synced", tests::watch_request("5")}},
              {"a watch: what was known is gone, and comes back",
               [&](WatchScript& s) {
                 tests::watch_one_pod(s);
                 s.send(event_line("MODIFIED", broken("a", "1", 6)));
                 s.send(event_line("MODIFIED", broken("a", "1", 7)));
                 CHECK(s.reflector().unreadable() == 1);
                 s.send(event_line("MODIFIED", pod_json("a", "1", 8)));
                 CHECK(s.reflector().unreadable() == 0);
               },
               tests::after_one_pod({watch + of_a, "- a/1", "+ a/1@8"})},
              {"or what stands in for it is told in its place",
               [&](WatchScript& s) {
                 tests::watch_one_pod(s);
                 s.send(event_line("MODIFIED", broken("a", "1", 6, on_node)));
                 s.send(event_line("DELETED", pod_json("a", "1", 7)));
                 CHECK(s.reflector().unreadable() == 0);
               },
               tests::after_one_pod({watch + of_a, "+ a/1@6", "- a/1"})},
              {"what a new list does not show any more is forgotten",
               [&](WatchScript& s) {
                 tests::watch_one_pod(s);
                 s.send(event_line("ADDED", broken("b", "2", 6)));
                 s.send(error_line(410, "Expired", "too old"));
                 s.wait();
                 s.page(9, "", {broken("a", "1", 8)});
                 CHECK(s.reflector().unreadable() == 1);
               },
               tests::after_one_pod({watch + of_b, "! watch /api/v1/pods: 410 Gone: too old",
                                     list_request("6"), list + of_a, "- a/1",
                                     tests::watch_request("9")})}},
             paged());
  tests::run({{"a streamed list is complete without it",
               [&](WatchScript& s) {
                 s.open();
                 s.send(event_line("ADDED", broken("b", "2", 4)) +
                        event_line("ADDED", pod_json("c", "3", 3)) + bookmark_line(5, true));
               },
               {tests::stream_request(), watch + of_b, "+ c/3@3", "synced"}}},
             ReflectorOptions{});
}

TEST_CASE("a page that is too large is asked for in halves", "[watch]") {
  const auto request = [](const std::string& limit, const std::string& token) {
    return "> /api/v1/pods?limit=" + limit + (token.empty() ? "" : "&continue=" + token);
  };
  const std::string too_large = "! list /api/v1/pods: broke";
  tests::run({{"the first one, and those that follow",
               [](WatchScript& s) {
                 s.break_off(ErrorKind::kTooLarge);
                 s.page(5, "c1", {pod_json("a", "1", 3)});
                 s.page(5, "", {pod_json("b", "2", 3)});
               },
               {request("2", ""), too_large + ", again at once", request("1", ""), "+ a/1@3",
                request("1", "c1"), "+ b/2@3", "synced", tests::watch_request("5")}},
              {"one object that is too large is a failure like any other",
               [](WatchScript& s) {
                 s.break_off(ErrorKind::kTooLarge);
                 s.break_off(ErrorKind::kTooLarge);
                 s.wait();
               },
               {request("2", ""), too_large + ", again at once", request("1", ""), too_large,
                request("1", "")}}},
             paged());
}

TEST_CASE("each finished list and each answered watch is observed once", "[watch]") {
  WatchScript script(ReflectorOptions{});
  script.start();
  script.refuse(422, "Invalid");
  script.page(5, "", {});
  script.break_off(ErrorKind::kConnect);
  script.wait();
  script.open();
  script.send(bookmark_line(6));
  script.break_off(ErrorKind::kConnection);
  CHECK(script.observed() == Log{"WATCH 422", "LIST 200", "WATCH 0", "WATCH 200"});
}

}  // namespace
}  // namespace k8s
