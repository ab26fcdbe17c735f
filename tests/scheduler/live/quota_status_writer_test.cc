#include "scheduler/live/writes/quota_status_writer.h"

#include "tests/support/catch.h"
#include "tests/support/manual_loop.h"

#include <chrono>
#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using k8s::GpuQuota;
using k8s::Quantity;
using sched::live::QuotaStatusWriter;

constexpr k8s::Timestamp kWallStart{std::chrono::sys_days{std::chrono::year{2026} / 3 / 4}};

// A status that says how much is used, and whether the quota is ready.
GpuQuota::Status status_of(std::int64_t used, const std::string& ready = "True") {
  GpuQuota::Status status;
  status.observed_generation = 1;
  status.total.used = Quantity::of(used);
  status.conditions = {{.type = "Ready", .status = ready, .reason = "r", .message = "m"}};
  return status;
}

struct QuotaStatusBench {
  struct Call {
    k8s::ObjectMeta at;
    GpuQuota::Status status;
    std::function<void(k8s::Result<void>)> done;
  };

  // The watch shows the object at a version, with what it carries.
  void show(const std::string& version, const std::optional<GpuQuota::Status>& carries = {},
            const std::string& uid = "u") {
    GpuQuota quota;
    quota.metadata.name = "q";
    quota.metadata.uid = uid;
    quota.metadata.resource_version = version;
    quota.status = carries;
    writer.observed(quota);
  }
  void want(const GpuQuota::Status& wanted) { writer.want({{"q", "u", wanted}}); }
  // Answers the oldest open write, and gives what it wrote.
  GpuQuota::Status answer(const k8s::Result<void>& result) {
    REQUIRE_FALSE(calls.empty());
    Call call = std::move(calls.front());
    calls.pop_front();
    call.done(result);
    return call.status;
  }
  GpuQuota::Status fail(int http_status) {
    k8s::Error error;
    error.kind = k8s::ErrorKind::kStatus;
    error.http_status = http_status;
    return answer(tl::unexpected<k8s::Error>(std::move(error)));
  }
  // "VERSION used N" of the writes that are open.
  [[nodiscard]] std::vector<std::string> open() const {
    std::vector<std::string> texts;
    for (const Call& call : calls) {
      texts.push_back(call.at.resource_version + " used " + call.status.total.used.to_string());
    }
    return texts;
  }

  tests::ManualLoop loop;
  const k8s::EventLoop::Clock::time_point begin = loop.now();
  std::deque<Call> calls;
  bool binds_wait = false;
  int problems = 0;
  int answered = 0;
  QuotaStatusWriter writer{
      loop,
      [this](const k8s::ObjectMeta& at, const GpuQuota::Status& wanted, auto done) {
        calls.push_back({at, wanted, std::move(done)});
      },
      {.max_open = 4, .interval = 1s, .back_off = {.first = 1s, .limit = 4s, .jitter = 0}},
      {.wall_clock =
           [this] {
             return kWallStart +
                    std::chrono::duration_cast<std::chrono::microseconds>(loop.now() - begin);
           },
       .binds_wait = [this] { return binds_wait; },
       .on_problem = [this](const k8s::Error&, auto) { ++problems; },
       .on_answered = [this] { ++answered; }}};
};

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("a quota's status is written when it is news") {
  QuotaStatusBench bench;
  bench.show("1");
  CHECK(bench.open().empty());  // nothing is known to be said
  bench.want(status_of(3));
  REQUIRE(bench.open() == Texts{"1 used 3"});
  CHECK(bench.calls[0].at.uid == "u");
  bench.show("2", bench.answer({}));
  bench.loop.advance(1h);
  CHECK(bench.open().empty());
  bench.want(status_of(3));
  CHECK(bench.open().empty());
  bench.writer.stop();
  bench.want(status_of(4));
  CHECK(bench.open().empty());
}

TEST_CASE("what an object carries already is not written after a restart") {
  QuotaStatusBench bench;
  bench.show("1", status_of(3));
  bench.want(status_of(3));
  CHECK(bench.open().empty());
}

TEST_CASE("a quota's status is written at most once a second, the newest") {
  QuotaStatusBench bench;
  bench.show("1");
  bench.want(status_of(1));
  bench.want(status_of(2));
  REQUIRE(bench.open() == Texts{"1 used 1"});
  bench.show("2", bench.answer({}));
  bench.want(status_of(3));
  bench.loop.advance(999ms);
  CHECK(bench.open().empty());
  bench.loop.advance(1ms);
  CHECK(bench.open() == Texts{"2 used 3"});
}

TEST_CASE("back to what is written: nothing more to do") {
  QuotaStatusBench bench;
  bench.show("1");
  bench.want(status_of(1));
  bench.show("2", bench.answer({}));
  bench.want(status_of(2));
  bench.want(status_of(1));
  bench.loop.advance(1h);
  CHECK(bench.open().empty());
}

TEST_CASE("what the server does not keep is not written again for the same version") {
  QuotaStatusBench bench;
  bench.show("1");
  bench.want(status_of(3));
  bench.answer({});
  // It has kept a part.
  bench.show("2", status_of(0));
  bench.loop.advance(1s);
  REQUIRE(bench.open() == Texts{"2 used 3"});
  // And this changes nothing, so the version stays.
  bench.answer({});
  bench.loop.advance(1h);
  CHECK(bench.open().empty());
  bench.want(status_of(4));
  CHECK(bench.open() == Texts{"2 used 4"});
  SECTION("a write that failed is repeated") {
    bench.fail(503);
    bench.loop.advance(1h);
    CHECK(bench.open() == Texts{"2 used 4"});
  }
  SECTION("another writer's change is corrected") {
    bench.answer({});
    bench.show("3", status_of(0));
    bench.loop.advance(1h);
    CHECK(bench.open() == Texts{"3 used 4"});
  }
}

TEST_CASE("a conflict is tried again from what the watch shows then") {
  QuotaStatusBench bench;
  bench.show("1");
  bench.want(status_of(1));
  bench.show("2");  // labelled by another client
  bench.fail(409);
  bench.loop.advance(1s);
  CHECK(bench.open() == Texts{"2 used 1"});
  CHECK(bench.problems == 0);
  CHECK(bench.answered == 1);
}

TEST_CASE("what another writes into a status is put right") {
  QuotaStatusBench bench;
  bench.show("1", status_of(1));
  bench.want(status_of(1));
  bench.show("2", status_of(99));
  CHECK(bench.open() == Texts{"2 used 1"});
}

TEST_CASE("other failures are tried again, less and less often, and reported") {
  QuotaStatusBench bench;
  bench.show("1");
  bench.want(status_of(1));
  for (const auto delay : {1s, 2s, 4s, 4s}) {
    bench.fail(500);
    bench.loop.advance(delay - 1ms);
    CHECK(bench.open().empty());
    bench.loop.advance(1ms);
    REQUIRE(bench.open() == Texts{"1 used 1"});
  }
  CHECK(bench.problems == 4);
  CHECK(bench.answered == 0);
  // After one that succeeds the next pause is short again.
  bench.show("2", bench.answer({}));
  bench.loop.advance(1s);
  bench.want(status_of(2));
  bench.fail(500);
  bench.loop.advance(1s);
  CHECK(bench.open() == Texts{"2 used 2"});
}

TEST_CASE("one that is gone is left alone, its successor is another") {
  QuotaStatusBench bench;
  bench.show("1");
  bench.want(status_of(1));
  bench.writer.forget("u");
  bench.fail(404);
  bench.want(status_of(2));
  bench.loop.advance(1h);
  CHECK(bench.open().empty());
  CHECK(bench.problems == 0);
  CHECK(bench.answered == 1);
  bench.show("5");  // it comes back
  bench.want(status_of(2));
  CHECK(bench.open() == Texts{"5 used 2"});
  // And once more, before the answer.
  bench.writer.forget("u");
  bench.show("6");
  bench.want(status_of(3));
  bench.answer({});
  bench.loop.advance(1s);
  CHECK(bench.open() == Texts{"6 used 3"});
}

TEST_CASE("a condition's time is that of its last change") {
  QuotaStatusBench bench;
  bench.show("1");
  bench.want(status_of(1));
  GpuQuota::Status written = bench.answer({});
  CHECK(written.conditions[0].last_transition_time == kWallStart);
  bench.show("2", written);

  bench.loop.advance(60s);
  bench.want(status_of(2));
  written = bench.answer({});
  CHECK(written.conditions[0].last_transition_time == kWallStart);
  bench.show("3", written);

  bench.loop.advance(60s);
  bench.want(status_of(2, "False"));
  CHECK(bench.answer({}).conditions[0].last_transition_time == kWallStart + 120s);

  // One that has no time gets one.
  bench.show("4", status_of(2, "False"));
  bench.loop.advance(60s);
  bench.want(status_of(3, "False"));
  CHECK(bench.answer({}).conditions[0].last_transition_time == kWallStart + 180s);
}

TEST_CASE("an answer after the end of a writer of quotas' statuses is for nobody") {
  tests::ManualLoop loop;
  std::function<void(k8s::Result<void>)> late;
  {
    QuotaStatusWriter writer(
        loop, [&](const auto&, const auto&, auto done) { late = std::move(done); }, {},
        {.wall_clock = [] { return kWallStart; },
         .binds_wait = [] { return false; },
         .on_problem = [](const k8s::Error&, auto) { FAIL("told"); },
         .on_answered = [] { FAIL("told"); }});
    GpuQuota quota;
    quota.metadata.uid = "u";
    writer.observed(quota);
    writer.want({{"q", "u", status_of(1)}});
  }
  REQUIRE(late);
  late({});
}

TEST_CASE("statuses of many quotas go out a few at a time, and two while binds wait") {
  QuotaStatusBench bench;
  const auto uids = [&bench] {
    Texts texts;
    for (const QuotaStatusBench::Call& call : bench.calls) texts.push_back(call.at.uid);
    return texts;
  };
  bench.binds_wait = true;
  for (const char* uid : {"a", "b", "c", "d", "e", "f", "g"}) {
    bench.show("1", {}, uid);
    bench.writer.want({{"q", uid, status_of(1)}});
  }
  CHECK(uids() == Texts{"a", "b"});
  std::swap(bench.calls[0], bench.calls[1]);  // that of a hangs
  bench.answer({});
  CHECK(uids() == Texts{"a", "c"});
  bench.binds_wait = false;
  bench.writer.resume();
  CHECK(uids() == Texts{"a", "c", "d", "e"});
  bench.writer.forget("f");
  bench.answer({});
  CHECK(uids() == Texts{"c", "d", "e", "g"});
  bench.writer.stop();
  for (int i = 0; i < 4; ++i) bench.answer({});
  CHECK(bench.calls.empty());
}

TEST_CASE("quota statuses that were sent before binds waited do not count") {
  QuotaStatusBench bench;
  for (const char* uid : {"a", "b", "c", "d", "e"}) {
    bench.binds_wait = std::string(uid) > "b";
    bench.show("1", {}, uid);
    bench.writer.want({{"q", uid, status_of(1)}});
  }
  CHECK(bench.calls.size() == 4);
  bench.answer({});  // of a; e is behind two that were sent while binds waited
  CHECK(bench.calls.size() == 3);
  std::swap(bench.calls[0], bench.calls[1]);
  bench.answer({});  // of c
  REQUIRE(bench.calls.size() == 3);
  CHECK(bench.calls.back().at.uid == "e");
}

TEST_CASE("what waits for its turn is written as it is then") {
  QuotaStatusBench bench;
  bench.binds_wait = true;
  for (const char* uid : {"other", "another"}) {
    bench.show("1", {}, uid);
    bench.writer.want({{"q", uid, status_of(1)}});
  }
  bench.show("1");
  bench.want(status_of(1));
  bench.want(status_of(2));
  bench.show("2");
  bench.answer({});
  bench.answer({});
  CHECK(bench.open() == Texts{"2 used 2"});
}
