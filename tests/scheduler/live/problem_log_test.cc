#include "scheduler/live/problem_log.h"

#include "tests/scheduler/live/captured_log.h"
#include "tests/support/catch.h"

#include <string>
#include <utility>

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
  ProblemLog problems;
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
  CHECK(log.take() == "resolved what=bind repeats=10\n");
  problems.resolved("bind");
  CHECK(log.take().empty());
  problems.report("bind", status(503, "pod d"), 0ms);
  CHECK(log.take() == "problem what=bind error=\"pod d\"\n");
}
