// When a thread is thought to hang.
#include "scheduler/live/shell/probes.h"

#include "scheduler/live/heartbeat.h"
#include "tests/support/catch.h"

using namespace std::chrono_literals;
using sched::live::Heartbeat;

namespace {
const Heartbeat::Clock::time_point kStart = Heartbeat::Clock::now();
}

TEST_CASE("a thread at rest hangs never, one at work since its last beat") {
  Heartbeat heart;
  CHECK(heart.working_for(kStart + 1h) == 0s);
  heart.beat(kStart);
  CHECK(heart.working_for(kStart + 5s) == 5s);
  heart.beat(kStart + 4s);
  CHECK(heart.working_for(kStart + 5s) == 1s);
  heart.rest();
  CHECK(heart.working_for(kStart + 1h) == 0s);
}

TEST_CASE("a thread that does not wake for its work hangs") {
  Heartbeat heart;
  heart.wake();
  CHECK(heart.working_for(Heartbeat::Clock::now() + 1h) >= 1h);
  // More work does not make it younger, nor does work for one that is busy.
  heart.beat(kStart);
  heart.wake();
  CHECK(heart.working_for(kStart + 1h) == 1h);
}

TEST_CASE("a leader that cannot read for a minute which quotas there were is not ready") {
  CHECK(sched::live::remembered_quotas_check(0s).passed);
  CHECK(sched::live::remembered_quotas_check(59s).passed);
  CHECK_FALSE(sched::live::remembered_quotas_check(1min).passed);
  // Where the right is missing it says within the half minute why nothing is decided.
  CHECK(sched::live::remembered_quotas_check(4999ms).note == "");
  CHECK(sched::live::remembered_quotas_check(5s).note ==
        "decides nothing before it has read which quotas there were");
}

TEST_CASE("the engine hangs after two minutes with one event, decision or question") {
  struct Case {
    std::chrono::nanoseconds working_for;
    bool want;
  };
  for (const auto& [working_for, want] :
       {Case{0s, true}, {100ms, true}, {119s, true}, {2min, false}}) {
    CHECK(sched::live::engine_check(working_for).passed == want);
  }
  CHECK(sched::live::engine_check(150s).why_not ==
        "one event, decision or question has taken 150 s so far");
}
