#include "k8s-client/event_recorder.h"

#include "tests/support/catch.h"
#include "tests/support/fake_transport.h"
#include "tests/support/manual_loop.h"
#include "tests/support/request_body.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <optional>
#include <string>

namespace k8s {
namespace {

using Json = nlohmann::json;
using Counters = EventRecorder::Counters;
using namespace std::chrono_literals;

EventObject failed_scheduling(const std::string& pod) {
  EventObject event;
  event.regarding_kind = "Pod";
  event.regarding_namespace = "ml";
  event.regarding_name = pod;
  event.regarding_uid = "uid-of-" + pod;
  event.reason = "FailedScheduling";
  event.action = "Scheduling";
  event.type = "Warning";
  event.note = "0/3 nodes are available";
  event.reporting_controller = "gpu-scheduler";
  event.reporting_instance = "gpu-scheduler-host";
  return event;
}

struct RecorderWorld {
  tests::ManualLoop loop;
  tests::FakeTransport transport{loop};
  Client client{transport, loop};
  bool may_send = true;
  std::optional<EventRecorder> recorder;

  explicit RecorderWorld(EventRecorder::Options options = {}) {
    recorder.emplace(client, loop, options, [this] { return may_send; });
  }
  void record(const std::string& pod, const std::string& namespace_ = "ml") {
    EventObject event = failed_scheduling(pod);
    event.regarding_namespace = namespace_;
    event.event_time = Timestamp(
        std::chrono::duration_cast<std::chrono::microseconds>(loop.now().time_since_epoch()));
    recorder->record(event);
  }
  // Answers the next write, which must be about `pod`; gives its body.
  Json answer(const std::string& pod, Method method, int status = 201) {
    const auto call = transport.next();
    CHECK(call->request().method == method);
    const Json body = tests::body_of(call->request());
    const std::string text = method == Method::kPost ? body["regarding"]["name"].get<std::string>()
                                                     : call->request().target;
    CAPTURE(text);
    CHECK(text.find(pod) != std::string::npos);
    const bool is_not_found = status == 404;
    call->respond(status, is_not_found ? R"({"kind":"Status","reason":"NotFound"})" : "");
    loop.run_ready();
    return body;
  }
  [[nodiscard]] bool silent() {
    loop.run_ready();
    return !transport.has_next();
  }
};

TEST_CASE("an event is written once", "[events]") {
  RecorderWorld world;
  world.record("a");
  const Json body = world.answer("a", Method::kPost);
  CHECK_FALSE(body.contains("series"));
  world.loop.advance(1h);
  CHECK(world.silent());
  CHECK(world.recorder->counters() == Counters{.written = 1});
}

TEST_CASE("repeats become a series, written at intervals", "[events]") {
  RecorderWorld world;
  world.record("a");
  world.answer("a", Method::kPost);
  for (int second = 0; second < 9; ++second) {
    world.loop.advance(1s);
    world.record("a");
    CHECK(world.silent());
  }
  world.loop.advance(1s);
  const Json patch = world.answer("a", Method::kPatch, 200);
  CHECK(patch["series"]["count"] == 10);
  world.record("a");
  world.loop.advance(9s);
  CHECK(world.silent());
  world.loop.advance(1s);
  CHECK(world.answer("a", Method::kPatch, 200)["series"]["count"] == 11);
  CHECK(world.recorder->counters() == Counters{.written = 3, .joined = 10});
}

TEST_CASE("a repeat long after the interval is written at once", "[events]") {
  RecorderWorld world;
  world.record("a");
  world.answer("a", Method::kPost);
  world.loop.advance(5min);
  world.record("a");
  CHECK(world.answer("a", Method::kPatch, 200)["series"]["count"] == 2);
}

TEST_CASE("a repeat after the window is a new event", "[events]") {
  RecorderWorld world;
  world.record("a");
  world.answer("a", Method::kPost);
  world.loop.advance(361s);
  world.record("a");
  CHECK_FALSE(world.answer("a", Method::kPost).contains("series"));
  CHECK(world.recorder->counters() == Counters{.written = 2});
}

TEST_CASE("what repeats before it could be written is created as a series", "[events]") {
  RecorderWorld world;
  world.may_send = false;
  world.record("a");
  world.record("a");
  world.record("b");
  world.record("a");
  CHECK(world.silent());
  world.may_send = true;
  world.recorder->resume();
  CHECK(world.answer("a", Method::kPost)["series"]["count"] == 3);
  CHECK_FALSE(world.answer("b", Method::kPost).contains("series"));
  CHECK(world.recorder->counters() == Counters{.written = 2, .joined = 2});
}

TEST_CASE("a repeat during the create follows as a patch", "[events]") {
  RecorderWorld world;
  world.record("a");
  const auto create = world.transport.next();
  world.record("a");
  create->respond(201);
  world.loop.advance(10s);
  CHECK(world.answer("a", Method::kPatch, 200)["series"]["count"] == 2);
}

TEST_CASE("only so many writes are under way", "[events]") {
  RecorderWorld world({.max_in_flight = 4});  // of one namespace two
  for (const char* pod : {"a", "b", "c"}) world.record(pod);
  const auto first = world.transport.next();
  const auto second = world.transport.next();
  CHECK(world.silent());
  first->respond(201);
  CHECK_FALSE(world.silent());
}

TEST_CASE("binds go first: between two events too", "[events]") {
  RecorderWorld world({.max_in_flight = 1});
  world.record("a");
  world.record("b");
  world.may_send = false;
  world.answer("a", Method::kPost);
  CHECK(world.silent());
  world.may_send = true;
  world.recorder->resume();
  world.answer("b", Method::kPost);
}

TEST_CASE("while binds wait for long, few events go out at a time", "[events]") {
  RecorderWorld world;
  world.may_send = false;
  for (const char* namespace_ : {"a", "b", "c"}) {
    world.record(namespace_ + std::string("1"), namespace_);
    world.record(namespace_ + std::string("2"), namespace_);
  }
  world.loop.advance(29'999ms);
  CHECK(world.silent());
  world.loop.advance(1ms);
  const auto hangs = world.transport.next();  // a1
  world.answer("b1", Method::kPost);
  world.answer("c1", Method::kPost);
  world.answer("b2", Method::kPost);
  world.answer("c2", Method::kPost);
  CHECK(world.silent());  // a has one open
  hangs->respond(201);
  world.loop.run_ready();
  SECTION("also what comes then") {
    world.record("d1", "d");
    world.record("e1", "e");
    for (const char* pod : {"a2", "d1", "e1"}) world.answer(pod, Method::kPost);
  }
  SECTION("until binds wait no more: then those of a while later have precedence again") {
    world.answer("a2", Method::kPost);
    world.may_send = true;
    world.recorder->resume();
    world.may_send = false;
    world.record("d1", "d");
    world.loop.advance(29'999ms);
    CHECK(world.silent());
    world.loop.advance(1ms);
    world.answer("d1", Method::kPost);
  }
  CHECK(world.silent());
}

TEST_CASE("events that the server refuses are dropped and counted", "[events]") {
  for (const int status : {403, 404, 409, 422}) {
    CAPTURE(status);
    RecorderWorld world;
    world.record("a");
    world.answer("a", Method::kPost, status);
    world.loop.advance(1h);
    CHECK(world.silent());
    CHECK(world.recorder->counters() == Counters{.dropped = 1});
    world.record("a");
    world.answer("a", Method::kPost);
  }
}

TEST_CASE("failures that pass are tried again, in order, and not for ever", "[events]") {
  RecorderWorld world({.max_attempts = 3});
  world.record("a");
  world.transport.next()->respond(429, "", {{"Retry-After", "9"}});
  world.loop.run_ready();
  world.record("b");
  world.loop.advance(8999ms);
  CHECK(world.silent());
  world.loop.advance(1ms);
  SECTION("it works") {
    world.answer("a", Method::kPost);
    world.answer("b", Method::kPost);
    CHECK(world.recorder->counters() == Counters{.written = 2});
  }
  SECTION("it does not") {
    world.answer("a", Method::kPost, 500);
    world.answer("b", Method::kPost);
    world.loop.advance(10s);
    world.answer("a", Method::kPost, 500);
    world.loop.advance(1h);
    CHECK(world.silent());
    CHECK(world.recorder->counters() == Counters{.written = 1, .dropped = 1});
  }
}

TEST_CASE("events that fail together keep their order", "[events]") {
  RecorderWorld world({.back_off = {.jitter = 0.0}});
  for (const char* pod : {"a", "b", "c"}) world.record(pod);
  for (const char* pod : {"a", "b", "c"}) world.answer(pod, Method::kPost, 500);
  world.record("d");
  CHECK(world.silent());
  world.loop.advance(800ms);
  for (const char* pod : {"a", "b", "c", "d"}) world.answer(pod, Method::kPost);
  CHECK(world.recorder->counters() == Counters{.written = 4});
}

TEST_CASE("writes that hang or fail in one namespace do not delay the events of others",
          "[events]") {
  RecorderWorld world({.max_attempts = 100, .back_off = {.limit = 5s, .jitter = 0.0}});
  SECTION("they hang") {
    for (int i = 0; i < 30; ++i) world.record("bad" + std::to_string(i), "bad");
    for (int i = 0; i < 8; ++i) static_cast<void>(world.transport.next());
    CHECK(world.silent());
  }
  SECTION("they fail") {
    world.record("bad", "bad");
    world.answer("bad", Method::kPost, 500);
    world.record("another", "bad");
    CHECK(world.silent());
    world.record("good", "fine");
    world.answer("good", Method::kPost);
    world.loop.advance(799ms);
    CHECK(world.silent());
    world.loop.advance(1ms);
    world.answer("bad", Method::kPost, 500);
    world.answer("another", Method::kPost, 500);
    // What works elsewhere does not shorten the next pause.
    world.record("good", "finer");
    world.answer("good", Method::kPost);
    world.loop.advance(1'599ms);
    CHECK(world.silent());
    world.loop.advance(1ms);
    world.transport.next()->respond(201);
    world.transport.next()->respond(201);
    CHECK(world.silent());
  }
  SECTION("they get no answer in time") {
    world.record("bad", "bad");
    world.transport.next()->fail(ErrorKind::kTimeout, "no answer", true);
    world.loop.run_ready();
    CHECK(world.silent());
  }
  world.record("new", "good");
  world.answer("new", Method::kPost);
}

TEST_CASE("while writes fail in several namespaces nothing is sent for a while", "[events]") {
  RecorderWorld world({.back_off = {.limit = 5s, .jitter = 0.0}});
  SECTION("since writes fail in four") {
    for (const char* each : {"a", "b", "c", "d"}) {
      world.record(each, each);
      world.answer(each, Method::kPost, 503);
    }
  }
  SECTION("at once if nothing answers") {
    world.record("a", "a");
    world.transport.next()->fail(ErrorKind::kConnect, "refused", false);
    world.loop.run_ready();
  }
  world.record("e", "e");
  CHECK(world.silent());
  world.loop.advance(800ms);
  std::size_t sent = 0;
  for (; !world.silent(); ++sent) world.transport.next()->respond(201);
  CHECK(sent == world.recorder->counters().written);
  CHECK(sent >= 2);
  world.record("f", "f");
  world.answer("f", Method::kPost);
}

TEST_CASE("after an outage events flow again within seconds, and trouble is news", "[events]") {
  RecorderWorld world({.max_attempts = 1000, .back_off = {.limit = 5s, .jitter = 0.0}});
  world.record("a");
  for (int second = 0; second < 300; ++second) {
    if (world.transport.has_next()) world.answer("a", Method::kPost, 503);
    world.loop.advance(1s);
  }
  world.loop.advance(5s);
  world.answer("a", Method::kPost);
  world.record("b");
  world.answer("b", Method::kPost, 401);  // a token that was replaced meanwhile
  world.loop.advance(800ms);              // the first pause again
  world.answer("b", Method::kPost);
  CHECK(world.recorder->counters() == Counters{.written = 2});
}

TEST_CASE("an event whose creation was not answered for certain exists already", "[events]") {
  RecorderWorld world;
  world.record("a");
  SECTION("no answer came") { world.transport.next()->fail(ErrorKind::kConnection, "reset", true); }
  SECTION("one came that does not say") { world.answer("a", Method::kPost, 504); }
  world.loop.advance(10s);
  world.answer("a", Method::kPost, 409);
  CHECK(world.recorder->counters() == Counters{.written = 1});
  world.record("a");
  CHECK(world.silent());
  world.loop.advance(10s);
  CHECK(world.answer("a", Method::kPatch, 200)["series"]["count"] == 2);
}

TEST_CASE("an event that exists already is not written again for nothing", "[events]") {
  RecorderWorld world;
  world.record("a");
  world.transport.next()->fail(ErrorKind::kConnection, "reset", true);
  world.loop.advance(10s);
  world.answer("a", Method::kPost, 409);
  world.loop.advance(60s);
  CHECK(world.silent());
}

TEST_CASE("what was repeated before an event turns out to exist is told as its series",
          "[events]") {
  RecorderWorld world;
  world.record("a");
  world.transport.next()->fail(ErrorKind::kConnection, "reset", true);
  world.loop.run_ready();
  world.record("a");
  world.loop.advance(10s);
  // It is unknown whether the event that exists counts one occurrence or both.
  CHECK(world.answer("a", Method::kPost, 409)["series"]["count"] == 2);
  world.loop.advance(10s);
  CHECK(world.answer("a", Method::kPatch, 200)["series"]["count"] == 2);
  CHECK(world.silent());
}

TEST_CASE("a series whose event has expired becomes a new event", "[events]") {
  RecorderWorld world;
  world.record("a");
  world.answer("a", Method::kPost);
  world.record("a");
  world.loop.advance(10s);
  world.answer("a", Method::kPatch, 404);
  CHECK(world.answer("a", Method::kPost)["series"]["count"] == 2);
  CHECK(world.recorder->counters() == Counters{.written = 2, .joined = 1});
}

TEST_CASE("a 404 that is not the API server's loses no event", "[events]") {
  RecorderWorld world;
  world.record("a");
  const auto misroute = [&world](Method method) {
    const auto call = world.transport.next();
    CHECK(call->request().method == method);
    call->respond(404, "no backend");
    world.loop.run_ready();
    CHECK(world.silent());
    world.loop.advance(10s);
  };
  misroute(Method::kPost);
  world.answer("a", Method::kPost);
  world.record("a");
  world.loop.advance(10s);
  misroute(Method::kPatch);
  CHECK(world.answer("a", Method::kPatch, 200)["series"]["count"] == 2);
  CHECK(world.recorder->counters() == Counters{.written = 2, .joined = 1});
}

TEST_CASE("events wait while there are no credentials", "[events]") {
  RecorderWorld world;
  world.record("a");
  world.transport.next()->fail(ErrorKind::kConfig, "credential plugin: exit code 1");
  world.loop.run_ready();
  world.record("b", "other");
  CHECK(world.silent());
  world.loop.advance(2s);
  world.answer("a", Method::kPost);
  world.answer("b", Method::kPost);
  CHECK(world.recorder->counters() == Counters{.written = 2});
}

TEST_CASE("one object causes no more events than its budget allows", "[events]") {
  RecorderWorld world({.budget = {.burst = 3}});
  const auto record = [&](const std::string& pod, int round) {
    EventObject event = failed_scheduling(pod);
    event.note += " in round " + std::to_string(round);
    world.recorder->record(event);
  };
  for (int round = 0; round < 10; ++round) record("a", round);
  record("b", 0);
  for (const char* pod : {"a", "a", "a", "b"}) world.answer(pod, Method::kPost);
  CHECK(world.silent());
  CHECK(world.recorder->counters() == Counters{.written = 4, .dropped = 7});
}

TEST_CASE("memory is bounded: the oldest that waits is dropped and counted", "[events]") {
  RecorderWorld world({.max_waiting = 2});
  SECTION("but not while there are written ones to forget") {
    world.record("a");
    world.answer("a", Method::kPost);
    world.may_send = false;
    world.record("b");
    world.record("c");
    CHECK(world.recorder->counters() == Counters{.written = 1});
  }
  SECTION("waiting ones") {
    world.may_send = false;
    for (const char* pod : {"a", "b", "c"}) world.record(pod);
    CHECK(world.recorder->counters() == Counters{.dropped = 1});
    world.may_send = true;
    world.recorder->resume();
    world.answer("b", Method::kPost);
    world.answer("c", Method::kPost);
    CHECK(world.silent());
  }
}

TEST_CASE("a storm of events in one namespace does not push out those of others", "[events]") {
  RecorderWorld world({.max_waiting = 4});
  world.may_send = false;
  world.record("a", "quiet");
  for (const char* pod : {"b", "c", "d", "e", "f"}) world.record(pod, "storm");
  CHECK(world.recorder->counters() == Counters{.dropped = 2});
  world.record("g", "quiet");
  CHECK(world.recorder->counters() == Counters{.dropped = 3});
  world.may_send = true;
  world.recorder->resume();
  for (const char* pod : {"a", "e", "g", "f"}) world.answer(pod, Method::kPost);
  CHECK(world.silent());
  CHECK(world.recorder->counters() == Counters{.written = 4, .dropped = 3});
}

TEST_CASE("an event that was dropped while its namespace failed is not sent", "[events]") {
  RecorderWorld world({.max_waiting = 1});
  world.record("a");
  world.answer("a", Method::kPost, 500);
  world.record("b");  // a is dropped
  CHECK(world.silent());
  world.loop.advance(10s);
  world.answer("b", Method::kPost);
  CHECK(world.silent());
  CHECK(world.recorder->counters() == Counters{.written = 1, .dropped = 1});
}

TEST_CASE("a flush writes what waits, and ends", "[events]") {
  RecorderWorld world;
  bool flushed = false;
  const auto flush = [&] { world.recorder->flush(5s, [&flushed] { flushed = true; }); };
  SECTION("with nothing to do") {
    flush();
    CHECK_FALSE(flushed);  // never from within the call
    world.loop.run_ready();
    CHECK(flushed);
  }
  SECTION("a series does not wait for its interval") {
    world.record("a");
    world.answer("a", Method::kPost);
    world.record("a");
    flush();
    CHECK(world.answer("a", Method::kPatch, 200)["series"]["count"] == 2);
    CHECK(flushed);
  }
  SECTION("not before the last answer") {
    world.record("a");
    flush();
    CHECK_FALSE(world.silent());
    CHECK_FALSE(flushed);
    world.answer("a", Method::kPost);
    CHECK(flushed);
  }
  SECTION("at the latest after the limit; what waited is counted") {
    world.may_send = false;
    world.record("a");
    flush();
    world.loop.advance(4999ms);
    CHECK_FALSE(flushed);
    world.loop.advance(1ms);
    CHECK(flushed);
    CHECK(world.recorder->counters() == Counters{.dropped = 1});
  }
  SECTION("and what comes after it is written again") {
    flush();
    world.loop.run_ready();
    world.record("b");
    world.answer("b", Method::kPost);
  }
}

TEST_CASE("a recorder may be destroyed with writes under way, or by its own flush", "[events]") {
  RecorderWorld world;
  world.record("a");
  const auto call = world.transport.next();
  SECTION("under way") {
    world.recorder.reset();
    call->respond(201);
    world.loop.advance(1h);
  }
  SECTION("by its flush") {
    bool flushed = false;
    world.recorder->flush(5s, [&] {
      flushed = true;
      world.recorder.reset();
    });
    call->respond(201);
    world.loop.advance(1h);
    CHECK(flushed);
  }
  SECTION("by its flush, at the limit") {
    world.recorder->flush(5s, [&] { world.recorder.reset(); });
    world.loop.advance(1h);
    CHECK_FALSE(world.recorder);
  }
  CHECK(world.silent());
}

}  // namespace
}  // namespace k8s
