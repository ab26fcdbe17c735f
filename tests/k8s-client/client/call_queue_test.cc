#include "k8s-client/call_queue.h"

#include "tests/support/catch.h"

#include <map>
#include <string>

namespace {

using Queue = k8s::CallQueue<std::string>;
constexpr std::size_t kMost = 16;

void push(Queue& queue, const std::string& namespace_, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) queue.push(namespace_, namespace_ + std::to_string(i));
}

// Sends what may be sent, of calls that hang. The number of calls by namespace.
std::map<char, std::size_t> send_all(Queue& queue, std::size_t most = kMost) {
  std::map<char, std::size_t> sent;
  while (const auto call = queue.take(most)) {
    queue.opened(call->substr(0, 1));
    ++sent[call->front()];
  }
  return sent;
}

}  // namespace

TEST_CASE("calls of a namespace that hang leave some to others") {
  Queue queue;
  push(queue, "a", 100);
  CHECK(send_all(queue) == std::map<char, std::size_t>{{'a', 8}});
  push(queue, "b", 100);
  CHECK(send_all(queue) == std::map<char, std::size_t>{{'b', 4}});
  push(queue, "c", 1);
  CHECK(send_all(queue) == std::map<char, std::size_t>{{'c', 1}});
  CHECK(queue.waiting() == 92 + 96);
  CHECK(queue.open() == 13);
  // Those that had more get less again.
  for (int i = 0; i < 3; ++i) queue.answered("a");
  CHECK(send_all(queue) == std::map<char, std::size_t>{{'a', 1}, {'b', 1}});
}

TEST_CASE("namespaces take turns, and the calls of one keep their order") {
  Queue queue;
  push(queue, "a", 3);
  push(queue, "b", 1);
  push(queue, "c", 2);
  std::string order;
  while (const auto call = queue.take(kMost)) order += *call + ' ';
  CHECK(order == "a0 b0 c0 a1 c1 a2 ");
  CHECK(queue.waiting() == 0);
  push(queue, "a", 2);
  queue.push_first("b", "begun");
  queue.push_first("a", "begun, too");
  CHECK(queue.take(kMost) == "begun");
  CHECK(queue.take(kMost) == "begun, too");
  CHECK(queue.take(kMost) == "a0");
}

TEST_CASE("calls that go back keep their order, before those that came later") {
  Queue queue;
  push(queue, "a", 4);
  for (int i = 0; i < 3; ++i) static_cast<void>(queue.take(kMost));
  for (const char* call : {"a0", "a2", "a1"}) {
    queue.put_back("a", call, [&](const std::string& other) { return other > call; });
  }
  push(queue, "b", 1);
  CHECK(queue.waiting() == 5);
  std::string order;
  while (const auto call = queue.take(kMost)) order += *call + ' ';
  CHECK(order == "a0 b0 a1 a2 a3 ");
  queue.pause("a");
  queue.put_back("a", "a0", [](const std::string&) { return false; });
  CHECK_FALSE(queue.take(kMost));
  CHECK(queue.resume("a"));
  CHECK(queue.take(kMost) == "a0");
}

TEST_CASE("no more are open than may be, which may change at any time") {
  Queue queue;
  for (const char* each : {"a", "b", "c", "d"}) push(queue, each, 2);
  CHECK(send_all(queue, 3) == std::map<char, std::size_t>{{'a', 1}, {'b', 1}, {'c', 1}});
  CHECK_FALSE(queue.take(1));
  queue.answered("b");
  CHECK(send_all(queue, 3) == std::map<char, std::size_t>{{'d', 1}});
}

TEST_CASE("behind binds two are taken at a time, of namespaces that have none open") {
  Queue queue;
  push(queue, "a", 20);
  send_all(queue);
  push(queue, "b", 2);
  CHECK_FALSE(queue.take(2));
  CHECK(queue.take_behind_binds() == "b0");
  queue.opened("b", true);
  CHECK_FALSE(queue.take_behind_binds());
  push(queue, "c", 1);
  push(queue, "d", 1);
  CHECK(queue.take_behind_binds() == "c0");
  queue.opened("c", true);
  CHECK_FALSE(queue.take_behind_binds());
  queue.answered("a");
  CHECK_FALSE(queue.take_behind_binds());
  queue.answered("b", true);
  CHECK(queue.take_behind_binds() == "b1");
  CHECK(queue.take_behind_binds() == "d0");
}

TEST_CASE("a call that is removed is not taken, and its namespace loses its turn with the last") {
  Queue queue;
  push(queue, "a", 3);
  push(queue, "b", 1);
  CHECK(queue.remove("a", "a1"));
  CHECK(queue.remove("a", "a1"));
  CHECK_FALSE(queue.remove("b", "b0"));
  CHECK_FALSE(queue.remove("c", "c0"));
  CHECK(queue.waiting() == 2);
  CHECK(queue.take(kMost) == "a0");
  queue.opened("a");
  CHECK(queue.remove("a", "a2"));  // one is open
  CHECK_FALSE(queue.take(kMost));
  queue.answered("a");
  push(queue, "a", 1);
  queue.pause("a");
  CHECK_FALSE(queue.remove("a", "a0"));
  CHECK_FALSE(queue.resume("a"));
  push(queue, "b", 1);
  CHECK(queue.take(kMost) == "b0");
}

TEST_CASE("after what waits was given up, what is open is still counted") {
  Queue queue;
  push(queue, "a", 3);
  queue.opened(queue.take(kMost)->substr(0, 1));
  queue.clear();
  CHECK(queue.waiting() == 0);
  CHECK_FALSE(queue.take(kMost));
  CHECK(queue.open() == 1);
  queue.answered("a");
  CHECK(queue.open() == 0);
  push(queue, "a", 1);
  CHECK(queue.take(kMost) == "a0");
}

TEST_CASE("of a namespace that is paused nothing is taken") {
  Queue queue;
  push(queue, "a", 2);
  push(queue, "b", 1);
  queue.pause("a");
  queue.push("a", "a2");
  queue.push_first("a", "first");
  CHECK(queue.waiting() == 5);
  CHECK(queue.take(kMost) == "b0");
  CHECK_FALSE(queue.take(kMost));
  CHECK(queue.resume("a"));
  std::string order;
  while (const auto call = queue.take(kMost)) order += *call + ' ';
  CHECK(order == "first a0 a1 a2 ");
  queue.pause("a");
  CHECK_FALSE(queue.resume("a"));
  CHECK_FALSE(queue.resume("c"));
  push(queue, "a", 1);
  CHECK(queue.take(kMost) == "a0");
}
