#include "k8s-client/http/event_loop.h"

#include "tests/support/catch.h"

#include <string>
#include <thread>

using namespace std::chrono_literals;

TEST_CASE("event loop: tasks run in the order in which they were posted") {
  const auto loop = k8s::make_event_loop();
  std::string order;
  loop->post([&] {
    order += "a";
    loop->post([&] { order += "c"; });
    loop->post([&] { loop->stop(); });
  });
  loop->post([&] { order += "b"; });
  CHECK(order.empty());
  loop->run();
  CHECK(order == "abc");
}

TEST_CASE("event loop: it can be stopped from another thread, and run again") {
  const auto loop = k8s::make_event_loop();
  for (int i = 0; i < 3; ++i) {
    std::jthread other([&] { loop->post([&] { loop->stop(); }); });
    loop->run();
  }
  loop->stop();
  loop->run();  // stopped before it began: returns
  SUCCEED();
}

TEST_CASE("event loop: timers fire in their order, each once") {
  const auto loop = k8s::make_event_loop();
  std::string order;
  const auto never = loop->after(1h, [&] { order += "never"; });
  const auto first = loop->after(1ms, [&] { order += "1"; });
  const auto second = loop->after(2ms, [&] { order += "2"; });
  const auto last = loop->after(3ms, [&] { loop->stop(); });
  loop->run();
  CHECK(order == "12");
}

TEST_CASE("event loop: a destroyed timer does not fire, even when it was due already") {
  const auto loop = k8s::make_event_loop();
  bool fired = false;
  std::unique_ptr<k8s::Timer> doomed;
  const auto killer = loop->after(0ms, [&] { doomed.reset(); });
  doomed = loop->after(0ms, [&] { fired = true; });
  const auto end = loop->after(5ms, [&] { loop->stop(); });
  loop->run();
  CHECK_FALSE(fired);
}

TEST_CASE("event loop: a timer may destroy itself and start the next") {
  const auto loop = k8s::make_event_loop();
  int fired = 0;
  std::unique_ptr<k8s::Timer> timer;
  std::function<void()> again = [&] {
    if (++fired == 3) return loop->stop();
    timer = loop->after(0ms, again);
  };
  timer = loop->after(0ms, again);
  loop->run();
  CHECK(fired == 3);
}
