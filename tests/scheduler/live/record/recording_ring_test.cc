// What the ring keeps, within which bounds, and what is left of what it does not keep.
#include "scheduler/live/record/recording_ring.h"

#include "scheduler/live/record/gzip_member.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"
#include "tests/support/full.h"

#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace {

using sched::Time;
using sched::live::AppliedCall;
using sched::live::EngineCall;
using sched::live::RecordHeader;
using sched::live::RecordingRing;
using sched::live::StepCall;
namespace event = sched::event;
using namespace std::chrono_literals;

constexpr Time kRingBegin{std::chrono::seconds(1'767'225'600)};

struct Read {
  RecordHeader header;
  std::vector<EngineCall> calls;
};

Read read(const RecordingRing& ring) {
  std::string text;
  for (const auto& part : ring.parts()) {
    const auto unpacked = sched::live::unpack_member(*part);
    REQUIRE(unpacked);
    text += unpacked->text;
  }
  std::istringstream lines(text);
  std::string line;
  REQUIRE(std::getline(lines, line));
  const auto header = sched::live::decode_header(line);
  REQUIRE(header);
  Read all{*header, {}};
  while (std::getline(lines, line)) {
    const auto call = sched::live::decode_call(line);
    REQUIRE(call);
    all.calls.push_back(*call);
  }
  return all;
}

// The objects that the events tell of, in words: pods by uid, with their node; nodes by name.
class Objects {
 public:
  void apply(const EngineCall& call) {
    const auto* applied = std::get_if<AppliedCall>(&call);
    if (applied == nullptr) return;
    if (const auto* pod = std::get_if<event::PodUpserted>(&applied->event)) {
      words_["pod " + pod->object.metadata.uid] = pod->object.spec.node_name;
    } else if (const auto* gone = std::get_if<event::PodDeleted>(&applied->event)) {
      words_.erase("pod " + gone->pod.uid);
    } else if (const auto* node = std::get_if<event::NodeUpserted>(&applied->event)) {
      words_["node " + node->object.metadata.name] =
          node->object.spec.unschedulable ? "cordoned" : "";
    } else if (const auto* gone_node = std::get_if<event::NodeDeleted>(&applied->event)) {
      words_.erase("node " + gone_node->name);
    }
  }
  friend bool operator==(const Objects&, const Objects&) = default;

 private:
  std::map<std::string, std::string> words_;
};

AppliedCall pod_at(Time at, const std::string& uid, const std::string& node = "") {
  k8s::Pod pod = tests::pod(uid).uid(uid).gpus(1);
  pod.spec.node_name = node;
  return {event::PodUpserted{std::move(pod)}, at};
}

}  // namespace

TEST_CASE("within its bounds a recording is every call, without a snapshot") {
  RecordingRing ring({"c.yaml", "a: 1\n"}, {});
  ring.add(pod_at(kRingBegin, "a"));
  ring.add(AppliedCall{event::Synced{}, kRingBegin + 1s});
  ring.add(StepCall{std::nullopt, kRingBegin + 2s});
  const Read all = read(ring);
  CHECK(all.header == RecordHeader{"c.yaml", "a: 1\n"});
  REQUIRE(all.calls.size() == 3);
  CHECK(std::get<StepCall>(all.calls[2]).at == kRingBegin + 2s);
  CHECK(ring.span() == 2s);
}

TEST_CASE("what is older than the age is left as a snapshot, in which the last state counts") {
  RecordingRing ring({}, {.age = 1h});
  ring.add(pod_at(kRingBegin, "stays"));
  ring.add(pod_at(kRingBegin, "goes"));
  ring.add(AppliedCall{event::NodeUpserted{tests::node("n1")}, kRingBegin});
  ring.add(AppliedCall{event::DisruptionBudgetsReadable{true}, kRingBegin});
  ring.add(AppliedCall{event::DisruptionBudgetsReadable{false}, kRingBegin});
  ring.add(AppliedCall{event::Synced{}, kRingBegin});
  ring.add(pod_at(kRingBegin + 1min, "stays", "n1"));
  ring.add(AppliedCall{event::PodDeleted{{"ns", "goes", "goes"}}, kRingBegin + 2min});
  // One call a minute, so that there is something to fold in time.
  const auto last = 90min;
  for (auto at = 3min; at <= last; at += 1min) ring.add(StepCall{std::nullopt, kRingBegin + at});

  const Read all = read(ring);
  REQUIRE(all.header.snapshot);
  CHECK(all.header.snapshot->objects == 3);
  CHECK(all.header.snapshot->at < kRingBegin + last - 1h);
  REQUIRE(all.calls.size() > 63);
  const auto& node = std::get<AppliedCall>(all.calls[0]);
  CHECK(std::holds_alternative<event::NodeUpserted>(node.event));
  const auto& budgets = std::get<AppliedCall>(all.calls[1]);
  CHECK_FALSE(std::get<event::DisruptionBudgetsReadable>(budgets.event).readable);
  const auto& pod = std::get<AppliedCall>(all.calls[2]);
  CHECK(std::get<event::PodUpserted>(pod.event).object.spec.node_name == "n1");
  CHECK(std::holds_alternative<event::Synced>(std::get<AppliedCall>(all.calls[3]).event));
  // At least the last hour, call by call.
  CHECK(std::get<StepCall>(all.calls[4]).at <= kRingBegin + last - 1h);
  CHECK(std::get<StepCall>(all.calls.back()).at == kRingBegin + last);
  CHECK(ring.span() < 1h + 1h / 6 + 2 * 5min + 1min);
  CHECK(ring.bytes() > 0);
}

TEST_CASE("before all watches are read a snapshot does not say that they were") {
  RecordingRing ring({}, {.age = 1min});
  for (auto at = 0s; at <= 10min; at += 1s) ring.add(pod_at(kRingBegin + at, "a"));
  const Read all = read(ring);
  REQUIRE(all.header.snapshot);
  CHECK(all.header.snapshot->objects == 1);
  for (const EngineCall& call : all.calls) {
    CHECK(std::holds_alternative<event::PodUpserted>(std::get<AppliedCall>(call).event));
  }
}

TEST_CASE("under random events the bound of memory holds, and no object is forgotten or invented") {
  constexpr std::size_t kBytes = 200'000;
  RecordingRing ring({}, {.bytes = kBytes, .age = 1h});
  std::mt19937_64 random(7);
  Objects now;
  std::size_t folded = 0;
  const auto events = static_cast<int>(tests::amount(30'000, 120'000));
  for (int i = 0; i < events; ++i) {
    const Time at = kRingBegin + i * 10ms;
    const std::string name = std::to_string(random() % 200);
    EngineCall call = StepCall{std::nullopt, at};
    switch (random() % 6) {
      case 0:
        call = pod_at(at, name);
        break;
      case 1:
        // Names that hardly pack, so that the bound is reached.
        call = pod_at(at, name, std::to_string(random()) + std::to_string(random()));
        break;
      case 2:
        call = AppliedCall{event::PodDeleted{{"ns", name, name}}, at};
        break;
      case 3: {
        k8s::Node node = tests::node(name);
        node.spec.unschedulable = random() % 2 == 0;
        call = AppliedCall{event::NodeUpserted{std::move(node)}, at};
        break;
      }
      case 4:
        call = AppliedCall{event::NodeDeleted{name}, at};
        break;
      default:
        break;
    }
    now.apply(call);
    ring.add(call);
    REQUIRE(ring.bytes() <= kBytes);
    if (i % 3'000 != 2'999) continue;
    const Read all = read(ring);
    if (all.header.snapshot) ++folded;
    Objects shown;
    for (const EngineCall& each : all.calls) shown.apply(each);
    REQUIRE(shown == now);
  }
  CHECK(folded > 5);
  CHECK(ring.is_keeping());
}

TEST_CASE("where the objects alone are larger than the bound nothing is kept") {
  RecordingRing ring({}, {.bytes = 20'000, .age = 1h});
  std::mt19937_64 random(7);
  for (int i = 0; i < 20'000 && ring.is_keeping(); ++i) {
    ring.add(pod_at(kRingBegin, std::to_string(random())));
  }
  CHECK_FALSE(ring.is_keeping());
  CHECK(ring.bytes() == 0);
  ring.add(pod_at(kRingBegin, "later"));
  CHECK(read(ring).calls.empty());
}
