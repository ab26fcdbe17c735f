// Which events wake the engine's thread.
#include "scheduler/live/haste.h"

#include "scheduler/live/event_queue.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <chrono>
#include <optional>
#include <string>
#include <unordered_set>

namespace {

namespace event = sched::event;
using namespace std::chrono_literals;
using sched::live::EventQueue;
using sched::live::Haste;
using sched::live::haste_of;

const std::unordered_set<std::string> kOurs = {"gpu-scheduler", "second"};

tests::PodBuilder our_pod() { return tests::pod("a").served_by("second").gpus(1); }

}  // namespace

TEST_CASE("only what confirms a bind of ours is in no haste") {
  CHECK(haste_of(event::BindSucceeded{{"default", "a", "uid-a"}, "n1"}, kOurs) == Haste::kSoon);
  CHECK(haste_of(event::PodUpserted{our_pod().on("n1")}, kOurs) == Haste::kSoon);

  CHECK(haste_of(event::BindFailed{{"default", "a", "uid-a"}, "n1", "no"}, kOurs) == Haste::kNow);
  CHECK(haste_of(event::PodUpserted{our_pod()}, kOurs) == Haste::kNow);
  CHECK(haste_of(event::PodUpserted{our_pod().on("n1").finished()}, kOurs) == Haste::kNow);
  CHECK(haste_of(event::PodUpserted{our_pod().on("n1").terminating()}, kOurs) == Haste::kNow);
  CHECK(haste_of(event::PodUpserted{tests::pod("b").served_by("default-scheduler").on("n1")},
                 kOurs) == Haste::kNow);
  CHECK(haste_of(event::PodDeleted{{"default", "a", "uid-a"}}, kOurs) == Haste::kNow);
  CHECK(haste_of(event::NodeUpserted{tests::node("n1")}, kOurs) == Haste::kNow);
}

TEST_CASE("what is in no haste wakes a thread that would not look in time by itself") {
  const EventQueue::Clock::time_point now(1h);
  CHECK_FALSE(EventQueue::wakes(Haste::kSoon, now, now));
  CHECK_FALSE(EventQueue::wakes(Haste::kSoon, now + EventQueue::kSoon, now));
  CHECK(EventQueue::wakes(Haste::kSoon, now + EventQueue::kSoon + 1ms, now));
  CHECK(EventQueue::wakes(Haste::kSoon, std::nullopt, now));
  CHECK(EventQueue::wakes(Haste::kNow, now, now));
}

TEST_CASE("the queue is taken whole, whatever the haste of its events") {
  EventQueue queue;
  queue.push(event::NodeDeleted{"n1"}, Haste::kSoon);
  queue.push(event::NodeDeleted{"n2"});
  CHECK(queue.has_events());
  CHECK(queue.take(std::nullopt).size() == 2);
  CHECK_FALSE(queue.has_events());
  CHECK(queue.take(1ms).empty());
}
