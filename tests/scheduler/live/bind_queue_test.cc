#include "scheduler/live/writes/bind_queue.h"

#include "tests/support/catch.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using sched::live::BindQueue;
using Texts = std::vector<std::string>;

struct BindQueueBench {
  void push(const std::string& group, const std::string& pod, BindQueue::TimePoint::duration at) {
    sched::decision::Bind bind;
    bind.pod.name = pod;
    queue.push({group}, std::move(bind), BindQueue::TimePoint(at));
  }
  void push(const std::string& group, int pods) {
    for (int i = 0; i < pods; ++i) push(group, group + std::to_string(i), 0s);
  }
  // Binds of the group have succeeded, so many that they do not limit it.
  void succeeds(const std::string& group) {
    for (int i = 0; i < 8; ++i) queue.bound({group});
  }
  // Sends all that may be sent.
  Texts send() {
    Texts sent;
    while (const auto taken = queue.take()) {
      queue.opened(taken->group);
      sent.push_back(taken->bind.pod.name);
    }
    return sent;
  }
  void set_aside(const std::string& group, int pods, BindQueue::TimePoint::duration at = 0s) {
    for (int i = 0; i < pods; ++i) {
      queue.answered({group});
      queue.set_aside({group}, BindQueue::TimePoint(at));
    }
  }
  // "pod", or "pod, stuck".
  Texts stale(BindQueue::TimePoint::duration at) {
    Texts given_back;
    for (const auto& each : queue.take_stale(BindQueue::TimePoint(at))) {
      given_back.push_back(each.bind.pod.name + (each.stuck ? ", stuck" : ""));
    }
    return given_back;
  }

  BindQueue queue{{.max_open = 4,
                   .max_open_alone = 4,
                   .max_open_of_one = 2,
                   .max_aside_of_one = 2,
                   .stale_after = 3s,
                   .stuck_after = 1s}};
};

}  // namespace

TEST_CASE("the oldest decision is sent first, so many at a time") {
  BindQueueBench bench;
  bench.push("b", "b0", 0s);
  bench.push("a", "a0", 1s);
  bench.push("b", "b1", 2s);
  bench.succeeds("a");
  bench.succeeds("b");
  CHECK(bench.send() == Texts{"b0", "a0", "b1"});
  bench.push("a", "a1", 3s);
  bench.push("a", "a2", 4s);
  CHECK(bench.send() == Texts{"a1"});
  bench.queue.answered({"b"});
  CHECK(bench.send() == Texts{"a2"});
  CHECK(bench.queue.size() == 0);
}

TEST_CASE("a group has all calls while no other one waits, else its share") {
  BindQueueBench bench;
  bench.push("a", 6);
  bench.succeeds("a");
  CHECK(bench.send() == Texts{"a0", "a1", "a2", "a3"});
  bench.push("b", "b0", 9s);
  CHECK_FALSE(bench.queue.has_room({"a"}));
  bench.queue.answered({"a"});
  CHECK(bench.queue.has_room({"b"}));
  CHECK_FALSE(bench.queue.has_room({"a"}));  // it would take the other's place
  CHECK(bench.send() == Texts{"b0"});
  bench.queue.answered({"a"});
  CHECK(bench.queue.has_room({"a"}));
  CHECK(bench.send() == Texts{"a4"});
}

TEST_CASE("one group leaves room for another that comes") {
  BindQueue queue{{.max_open = 3, .max_open_alone = 2}};
  for (const char* group : {"a", "a", "a", "b"}) {
    sched::decision::Bind bind;
    bind.pod.name = group;
    queue.push({group}, std::move(bind), {});
    queue.bound({group});
  }
  Texts sent;
  while (const auto taken = queue.take()) {
    queue.opened(taken->group);
    sent.push_back(taken->bind.pod.name);
  }
  std::sort(sent.begin(), sent.end());
  CHECK(sent == Texts{"a", "a", "b"});
  queue.answered({"b"});
  CHECK_FALSE(queue.take());
  CHECK_FALSE(queue.has_room({"a"}));
  CHECK(queue.has_room({"b"}));
}

TEST_CASE("a group without successes has a quarter of the free calls, and one in any case") {
  BindQueue queue{{.max_open = 40, .max_open_alone = 32, .max_open_of_one = 32}};
  const auto send = [&queue](const std::string& group, bool again = false) {
    for (int i = 0; i < 40; ++i) queue.push({group, again}, {}, {});
    std::map<std::string, int> sent;
    while (const auto taken = queue.take()) {
      queue.opened(taken->group);
      ++sent[taken->group.namespace_];
    }
    return sent;
  };
  using Sent = std::map<std::string, int>;
  CHECK(send("a") == Sent{{"a", 8}});
  CHECK(send("b") == Sent{{"b", 6}});
  CHECK(send("c", true) == Sent{{"c", 5}});
  // What succeeds is limited no more.
  for (int i = 0; i < 30; ++i) queue.bound({"a"});
  CHECK(send("d") == Sent{{"a", 21}});
  CHECK(queue.take() == std::nullopt);
  // Of the last free calls one goes to each that has not failed.
  for (int i = 0; i < 3; ++i) queue.answered({"b"});
  queue.clear();
  CHECK(send("again", true) == Sent{});
  CHECK(send("new") == Sent{{"new", 1}});
  CHECK_FALSE(queue.has_room({"again", true}));
  CHECK_FALSE(queue.has_room({"new"}));
  CHECK(queue.has_room({"newer"}));
  // Calls that were put off are open beyond all others, and leave nothing to anybody.
  for (int i = 0; i < 9; ++i) queue.opened({"again", true});
  CHECK_FALSE(queue.has_room({"newer"}));
  for (int i = 0; i < 3; ++i) queue.set_aside({"again", true}, BindQueue::TimePoint(0s));
  const auto stale = queue.take_stale(BindQueue::TimePoint(2s));
  CHECK(stale.size() == 40);
  CHECK(std::all_of(stale.begin(), stale.end(), [](const auto& each) { return each.stuck; }));
}

TEST_CASE("a group fails until the last of its binds that were set aside is settled") {
  BindQueue queue{{.max_open = 4}};
  for (int i = 0; i < 3; ++i) queue.opened({"other"});
  for (int i = 0; i < 2; ++i) queue.set_aside({"a"}, {});
  CHECK_FALSE(queue.has_room({"a"}));
  queue.settled({"a"});
  CHECK_FALSE(queue.has_room({"a"}));
  queue.settled({"a"});
  CHECK(queue.has_room({"a"}));
}

TEST_CASE("a group with so many binds set aside sends no more") {
  BindQueueBench bench;
  bench.push("a", 4);
  bench.succeeds("a");
  bench.send();
  bench.set_aside("a", 1);
  bench.push("a", "late", 0s);
  CHECK(bench.send().empty());  // three are open still
  bench.queue.answered({"a"});
  bench.queue.answered({"a"});
  CHECK(bench.send().empty());
  bench.queue.answered({"a"});
  CHECK(bench.send() == Texts{"late"});
  bench.push("a", "later", 0s);
  bench.push("b", 2);
  bench.succeeds("b");
  CHECK(bench.send() == Texts{"b0", "b1"});
  bench.queue.settled({"a"});
  bench.succeeds("a");
  CHECK(bench.send() == Texts{"later"});
}

TEST_CASE("what waited too long is given back, oldest first") {
  BindQueueBench bench;
  bench.push("a", "a0", 0s);
  bench.push("a", "a1", 1s);
  CHECK(bench.stale(2999ms).empty());
  CHECK(bench.stale(3s) == Texts{"a0"});
  CHECK(bench.stale(4s) == Texts{"a1"});
  CHECK(bench.queue.size() == 0);
}

TEST_CASE("what was taken and put back has waited since before") {
  BindQueueBench bench;
  bench.push("a", "a0", 0s);
  bench.push("a", "a1", 1s);
  auto taken = bench.queue.take();
  REQUIRE(taken);
  bench.queue.put_back(*std::move(taken));
  CHECK(bench.queue.size() == 2);
  CHECK(bench.stale(3s) == Texts{"a0"});
}

TEST_CASE("what waits in a group that is stuck is given back at once") {
  BindQueueBench bench;
  bench.push("a", 2);
  bench.succeeds("a");
  bench.send();
  bench.set_aside("a", 2, 10s);
  bench.push("a", "a2", 10s);
  bench.push("b", "b0", 10'500ms);
  SECTION("when it has been for a while") {
    CHECK(bench.stale(10'999ms).empty());
    CHECK(bench.stale(11s) == Texts{"a2, stuck"});
    bench.push("a", "a3", 12s);
    CHECK(bench.stale(12s) == Texts{"a3, stuck"});
  }
  SECTION("not once a bind of it went through") {
    bench.queue.bound({"a"});
    CHECK(bench.stale(11s).empty());
  }
  SECTION("not when it can go on") {
    bench.queue.settled({"a"});
    CHECK(bench.stale(11s).empty());
    CHECK(bench.send() == Texts{"a2", "b0"});
  }
}

TEST_CASE("a queue that is cleared is empty, and still counts calls") {
  BindQueueBench bench;
  bench.push("a", 5);
  bench.succeeds("a");
  bench.send();
  bench.queue.clear();
  CHECK(bench.queue.size() == 0);
  CHECK_FALSE(bench.queue.has_room({"b"}));
  bench.queue.answered({"a"});
  CHECK(bench.queue.has_room({"b"}));
}
