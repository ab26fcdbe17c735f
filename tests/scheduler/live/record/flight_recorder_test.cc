// What the flight recorder hands out is what the engine was told and answered, in order.
#include "scheduler/live/record/flight_recorder.h"

#include "scheduler/live/record/gzip_member.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <future>
#include <sstream>
#include <string>
#include <vector>

namespace {

using sched::Time;
using sched::live::EventQueue;
using sched::live::FlightRecorder;
using sched::live::Haste;
using sched::live::RecordingParts;
namespace event = sched::event;
using namespace std::chrono_literals;

constexpr Time kAppliedAt{std::chrono::microseconds(1'767'225'600'000'123)};

RecordingParts take(FlightRecorder& recorder) {
  std::promise<RecordingParts> taken;
  recorder.take([&](RecordingParts parts) { taken.set_value(std::move(parts)); });
  return taken.get_future().get();
}

// Its lines, without the first.
std::vector<std::string> lines_of(const RecordingParts& parts) {
  std::string text;
  for (const auto& part : parts) text += sched::live::unpack_member(*part).value().text;
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  REQUIRE_FALSE(lines.empty());
  lines.erase(lines.begin());
  return lines;
}

sched::Decision released(const std::string& node) {
  return sched::decision::NodeReleased{.node = node};
}

}  // namespace

TEST_CASE(
    "events go on to the engine, and calls stand in the recording with what they were about") {
  FlightRecorder recorder({}, {}, [] {});
  EventQueue queue;
  recorder.push(event::NodeDeleted{"n1"}, Haste::kNow, queue);
  recorder.push(event::NodeDeleted{"n2"}, Haste::kNow, queue);
  CHECK(queue.take(0ns).size() == 2);
  recorder.applied(kAppliedAt);
  recorder.applied(kAppliedAt + 1us);
  recorder.stepped(true, kAppliedAt + 2us);
  recorder.stepped(false, kAppliedAt + 3us);
  recorder.end_round();
  recorder.decided(released("n3"));
  CHECK(lines_of(take(recorder)) ==
        std::vector<std::string>{
            R"({"at":1767225600000123,"event":"NodeDeleted","name":"n1"})",
            R"({"at":1767225600000124,"event":"NodeDeleted","name":"n2"})",
            R"({"at":1767225600000125,"step":{"nodeReleased":{"node":"n3","proven":false}}})",
            R"({"at":1767225600000126,"step":null})"});
  CHECK(recorder.figures().lost == 0);
  CHECK(recorder.figures().is_recording);
}

TEST_CASE("a call waits for what it was about, and those behind it with it") {
  FlightRecorder recorder({}, {}, [] {});
  recorder.stepped(true, kAppliedAt);
  recorder.stepped(false, kAppliedAt);
  recorder.end_round();
  CHECK(lines_of(take(recorder)).empty());
  recorder.decided(released("n1"));
  CHECK(lines_of(take(recorder)).size() == 2);
}

TEST_CASE("what too many wait for is counted in its place, and goes to the engine all the same") {
  FlightRecorder recorder({}, {.most_waiting = 2}, [] {});
  EventQueue queue;
  // Not called yet, so they wait.
  for (const char* name : {"n1", "n2", "n3", "n4"})
    recorder.push(event::NodeDeleted{name}, Haste::kNow, queue);
  for (int i = 0; i < 3; ++i) recorder.decided(released("n"));
  CHECK(queue.take(0ns).size() == 4);
  for (int i = 0; i < 4; ++i) recorder.applied(kAppliedAt);
  for (int i = 0; i < 3; ++i) recorder.stepped(true, kAppliedAt);
  recorder.stepped(false, kAppliedAt);
  recorder.end_round();
  const auto lines = lines_of(take(recorder));
  REQUIRE(lines.size() == 7);
  CHECK(lines[1] == R"({"at":1767225600000123,"event":"NodeDeleted","name":"n2"})");
  CHECK(lines[2] == R"({"at":1767225600000123,"lost":{"events":2,"decisions":0}})");
  CHECK(lines[5] == R"({"at":1767225600000123,"lost":{"events":0,"decisions":1}})");
  CHECK(recorder.figures().lost == 3);
  // It goes on as soon as there is room.
  recorder.push(event::NodeDeleted{"n5"}, Haste::kNow, queue);
  recorder.applied(kAppliedAt);
  recorder.end_round();
  CHECK(lines_of(take(recorder)).back() ==
        R"({"at":1767225600000123,"event":"NodeDeleted","name":"n5"})");
}

TEST_CASE("where the objects are too large the recording ends, and events still go to the engine") {
  std::promise<void> ended;
  FlightRecorder recorder({}, {.limits = {.bytes = 100, .age = 12us}}, [&] { ended.set_value(); });
  EventQueue queue;
  for (int i = 0; i < 20; ++i) {
    recorder.push(event::NodeUpserted{tests::node("n" + std::to_string(i))}, Haste::kNow, queue);
    recorder.applied(kAppliedAt + i * 1s);
  }
  recorder.end_round();
  ended.get_future().get();
  CHECK(take(recorder).empty());
  CHECK_FALSE(recorder.figures().is_recording);
  recorder.push(event::NodeDeleted{"n"}, Haste::kNow, queue);
  recorder.applied(kAppliedAt);
  recorder.end_round();
  recorder.decided(released("n"));
  CHECK(queue.take(0ns).size() == 21);
}

TEST_CASE("one that was stopped hands out nothing") {
  FlightRecorder recorder({}, {}, [] {});
  recorder.stop();
  CHECK(take(recorder).empty());
}
