#include "scheduler/live/problem_log.h"

#include "tests/scheduler/live/captured_log.h"
#include "tests/support/catch.h"
#include "tests/support/manual_loop.h"

#include <string>

using namespace sched::live;
using namespace std::chrono_literals;

namespace {

k8s::Error status(int code, const std::string& message) {
  k8s::Error error;
  error.kind = k8s::ErrorKind::kStatus;
  error.http_status = code;
  error.message = message;
  return error;
}

}  // namespace

TEST_CASE("a cause is one line, however often it repeats and whatever comes in between") {
  tests::CapturedLog log;
  tests::ManualLoop loop;
  ProblemLog problems(loop);
  problems.report("bind", status(503, "pod a"), 200ms);
  CHECK(log.take() == "problem what=bind error=\"pod a\" retry_in_ms=200\n");
  problems.report("bind", status(500, "pod b"), 0ms);
  CHECK(log.take() == "problem what=bind error=\"pod b\"\n");
  for (int i = 0; i < 10; ++i) {
    problems.report("bind", status(i % 2 == 0 ? 503 : 500, "pod c"), 200ms);
  }
  CHECK(log.take().empty());
  problems.report("watch pods", status(503, "watch"), 0ms);
  CHECK(log.take() == "problem what=\"watch pods\" error=watch\n");

  problems.resolved("bind");
  loop.advance(kWellAfter);
  CHECK(log.take() == "resolved what=bind repeats=10\n");
  problems.resolved("bind");
  loop.advance(kWellAfter);
  CHECK(log.take().empty());
  problems.report("bind", status(503, "pod d"), 0ms);
  CHECK(log.take() == "problem what=bind error=\"pod d\"\n");
}

TEST_CASE("of what cannot be read each object is a cause") {
  tests::CapturedLog log;
  tests::ManualLoop loop;
  ProblemLog problems(loop);
  for (const char* message : {"Pod a: bad", "Pod b: bad", "Pod a: bad"}) {
    problems.report("watch pods", k8s::make_error(k8s::ErrorKind::kDecode, message), 0ms);
  }
  CHECK(log.take() ==
        "problem what=\"watch pods\" error=\"Pod a: bad\"\n"
        "problem what=\"watch pods\" error=\"Pod b: bad\"\n");
}

TEST_CASE("what works and fails by turns is one trouble") {
  tests::CapturedLog log;
  tests::ManualLoop loop;
  ProblemLog problems(loop);
  problems.report("bind", status(503, "pod a"), 200ms);
  CHECK(log.take() == "problem what=bind error=\"pod a\" retry_in_ms=200\n");
  for (int i = 0; i < 100; ++i) {
    problems.resolved("bind");
    loop.advance(kWellAfter - 1ms);
    problems.report("bind", status(503, "pod b"), 200ms);
  }
  CHECK(log.take().empty());

  SECTION("a cause that is new to it is told at once") {
    problems.resolved("bind");
    problems.report("bind", status(403, "pod c"), 0ms);
    CHECK(log.take() == "problem what=bind error=\"pod c\"\n");
  }
  SECTION("without a failure it is over, however often it worked meanwhile") {
    for (int i = 0; i < 9; ++i) {
      problems.resolved("bind");
      loop.advance(1s);
    }
    CHECK(log.take().empty());
    loop.advance(1s);
    CHECK(log.take() == "resolved what=bind repeats=100\n");
  }
  SECTION("time alone does not end it: it has to work") {
    loop.advance(10 * kWellAfter);
    CHECK(log.take().empty());
  }
}

TEST_CASE("a server that does not answer is one line, whatever asks it and however it fails") {
  tests::CapturedLog log;
  tests::ManualLoop loop;
  ProblemLog problems(loop);
  using k8s::ErrorKind;
  problems.report("watch pods", k8s::make_error(ErrorKind::kConnection, "GET pods: cut"), 200ms);
  CHECK(log.take() == "problem what=\"API server\" error=\"GET pods: cut\" retry_in_ms=200\n");
  for (const char* source : {"watch pods", "watch nodes", "bind", "lease"}) {
    for (const ErrorKind kind :
         {ErrorKind::kConnect, ErrorKind::kTimeout, ErrorKind::kConnection}) {
      problems.report(source, k8s::make_error(kind, "refused"), 200ms);
    }
  }
  CHECK(log.take().empty());

  SECTION("it is over when one of them has worked, and none was without an answer for a while") {
    problems.resolved("watch nodes");
    loop.advance(kWellAfter - 1ms);
    problems.report("watch pods", k8s::make_error(ErrorKind::kTimeout, "slow"), 0ms);
    loop.advance(kWellAfter);
    CHECK(log.take().empty());
    problems.resolved("watch pods");
    problems.resolved("watch nodes");
    loop.advance(kWellAfter);
    CHECK(log.take() == "resolved what=\"API server\" repeats=13\n");
    problems.report("bind", k8s::make_error(ErrorKind::kConnect, "gone"), 0ms);
    CHECK(log.take() == "problem what=\"API server\" error=gone\n");
  }
  SECTION("what a server answers is the trouble of whatever asked") {
    problems.report("watch pods", status(403, "forbidden"), 0ms);
    problems.report("watch nodes", k8s::make_error(ErrorKind::kTls, "expired"), 0ms);
    CHECK(log.take() ==
          "problem what=\"watch pods\" error=forbidden\n"
          "problem what=\"watch nodes\" error=expired\n");
  }
}
