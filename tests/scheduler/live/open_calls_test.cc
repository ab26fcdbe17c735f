#include "scheduler/live/writes/open_calls.h"

#include "tests/support/catch.h"

#include <deque>
#include <string>

using sched::live::OpenCalls;

namespace {

// Sends what may be sent of calls that never end. Returns how many are open.
std::size_t open_all(OpenCalls& calls, const std::string& namespace_) {
  const std::size_t before = calls.size();
  while (calls.may_open(namespace_)) calls.opened(namespace_);
  return calls.size() - before;
}

}  // namespace

TEST_CASE("calls of a namespace that hang leave some to others") {
  OpenCalls calls(16);
  CHECK(open_all(calls, "a") == 8);
  CHECK(open_all(calls, "b") == 4);
  CHECK(open_all(calls, "c") == 2);
  // Those that had more get less again.
  calls.answered("a");
  calls.answered("a");
  CHECK_FALSE(calls.may_open("a"));
  CHECK_FALSE(calls.may_open("b"));
  CHECK(calls.may_open("d"));
}

TEST_CASE("no more are open than may be, whatever their namespaces") {
  OpenCalls calls(3);
  for (const char* each : {"a", "b", "c"}) {
    CHECK(calls.may_open(each));
    calls.opened(each);
  }
  CHECK_FALSE(calls.may_open("d"));
  CHECK(calls.size() == 3);
  calls.answered("b");
  CHECK(calls.may_open("d"));
  CHECK_FALSE(calls.may_open("a"));
}

TEST_CASE("the first call that may be sent is taken, and the others keep their order") {
  OpenCalls calls(2);
  const auto itself = [](const std::string& call) -> const std::string& { return call; };
  std::deque<std::string> waiting = {"a", "a", "b", "c"};
  CHECK(calls.take(waiting, itself) == "a");
  calls.opened("a");
  CHECK(calls.take(waiting, itself) == "b");
  calls.opened("b");
  CHECK(waiting == std::deque<std::string>{"a", "c"});
  CHECK_FALSE(calls.take(waiting, itself));
  calls.answered("a");
  CHECK(calls.take(waiting, itself) == "a");
}
