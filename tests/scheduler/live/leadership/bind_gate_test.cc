#include "scheduler/live/leadership/bind_gate.h"

#include "tests/support/catch.h"

using namespace std::chrono_literals;
using sched::live::bind_times;
using sched::live::BindGate;
using sched::live::BindTimes;

namespace {

BindGate::TimePoint at(std::chrono::milliseconds time) { return BindGate::TimePoint(time); }

}  // namespace

TEST_CASE("a bind is granted a part of the lease, and never more than without one") {
  struct Case {
    std::chrono::milliseconds lease;
    BindTimes want;
  };
  const Case cases[] = {{15s, {.deadline = 5s, .margin = 1s}},
                        {60s, {.deadline = 5s, .margin = 1s}},
                        {3s, {.deadline = 1s, .margin = 200ms}}};
  for (const Case& c : cases) {
    CAPTURE(c.lease.count());
    CHECK(bind_times(c.lease) == c.want);
  }
}

TEST_CASE("the gate of a lease closes so early that a bind ends within it") {
  BindGate gate({.deadline = 5s, .margin = 1s});
  CHECK_FALSE(gate.is_open(at(1s)));
  gate.held_until(at(100s));
  CHECK(gate.send_by() == at(94s));
  CHECK(gate.is_open(at(94s)));
  CHECK_FALSE(gate.is_open(at(94'001ms)));
  gate.held_until(at(102s));
  CHECK(gate.is_open(at(96s)));
}

TEST_CASE("a gate that was closed stays closed") {
  BindGate gate({.deadline = 5s, .margin = 1s});
  gate.held_until(at(100s));
  gate.close();
  gate.held_until(at(200s));
  CHECK_FALSE(gate.is_open(at(1s)));
}
