// Several queues: whose head is next, the places in line, and pods that change their queue.
#include "scheduler/queue/queues.h"

#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

using namespace sched;
using namespace std::chrono_literals;

namespace {

constexpr Time kStart{1'000s};
constexpr QueueId kVision = 7;
constexpr QueueId kSpeech = 8;

struct Rank {
  int value = 0;
};
int compare(const Rank& a, const Rank& b) { return a.value - b.value; }

struct Fixture {
  ResourceNames names;
  Shapes shapes;
  std::deque<WaitingPod> pods;
  Queues queues;
  std::map<QueueId, int> ranks;
  std::set<std::string> blocked;  // names of pods that have no room
  int asked = 0;

  WaitingPod& pod(const std::string& name, QueueId queue, int gpus = 1) {
    WaitingPod& made = pods.emplace_back();
    made.pod = tests::pod(name).gpus(gpus);
    made.shape = shapes.intern(shape_of(made.pod, names));
    made.order = {.priority = 0, .created = kStart, .arrival = pods.size()};
    made.queue = queue;
    return made;
  }
  WaitingPod* next() {
    return queues.next([&](const WaitingPod& each) { return Rank{ranks[each.queue]}; },
                       [&](const WaitingPod& each) -> std::optional<WaitsFor> {
                         ++asked;
                         if (!blocked.contains(each.pod.metadata.name)) return std::nullopt;
                         return kWaitsForQuota;
                       });
  }
  std::vector<std::string> drain() {
    std::vector<std::string> order;
    while (WaitingPod* each = next()) {
      order.push_back(each->pod.metadata.name);
      queues.remove(*each);
    }
    return order;
  }
};

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("the turn goes to the queue that ranks first now, of equals to the older pod") {
  Fixture f;
  f.queues.activate(f.pod("m1", kMainQueue));
  f.queues.activate(f.pod("v1", kVision));
  f.queues.activate(f.pod("s1", kSpeech));
  f.queues.activate(f.pod("v2", kVision));
  f.ranks = {{kMainQueue, 1}, {kVision, 0}, {kSpeech, 0}};
  CHECK(f.next()->pod.metadata.name == "v1");
  f.ranks[kSpeech] = -1;
  CHECK(f.drain() == Names{"s1", "v1", "v2", "m1"});
}

TEST_CASE("pods that wait for quota are not asked about when something else opens") {
  Fixture f;
  for (int i = 0; i < 100; ++i) {
    f.queues.park(f.pod("p" + std::to_string(i), kVision), kWaitsForQuota, kStart + 1h);
  }
  f.blocked = {"p1"};
  f.queues.check_parked(kWaitsForNodes);
  CHECK(f.next() == nullptr);
  CHECK(f.asked == 0);
  // Room for one: the first is asked about and taken, then the second, which finds none.
  f.queues.of(kVision).check_parked(kWaitsForQuota);
  REQUIRE(f.next() != nullptr);
  CHECK(f.next()->pod.metadata.name == "p0");
  f.queues.remove(*f.next());
  f.asked = 0;
  CHECK(f.next() == nullptr);
  CHECK(f.next() == nullptr);
  CHECK(f.asked == 1);
}

TEST_CASE("each pod of a quota knows its place in line, whatever it waits for") {
  Fixture f;
  WaitingPod& first = f.pod("first", kVision);
  WaitingPod& second = f.pod("second", kVision);
  WaitingPod& third = f.pod("third", kVision, 2);
  f.queues.back_off(first, kStart + 1s);
  f.queues.park(second, kWaitsForQuota, kStart + 1h);
  f.queues.activate(third);
  const WaitingLine& line = f.queues.of(kVision).line();
  CHECK(line.first() == &first);
  CHECK(line.before(third) == 2);
  // Who cannot be helped by anybody, or waits for something else, keeps nobody waiting.
  f.queues.park(first, kWaitsForChange, kStart + 1h);
  CHECK(line.first() == &second);
  f.queues.refuse(second, kStorageChanged, kStart + 1h);
  CHECK(line.before(third) == 0);
  f.queues.wake(kStorageChanged);
  CHECK(line.before(third) == 1);
  f.queues.gate(second);
  CHECK(line.size() == 1);
}

TEST_CASE("who waits for its turn is asked about when those before it are gone") {
  Fixture f;
  WaitingPod& first = f.pod("first", kVision);
  f.queues.park(first, kWaitsForQuota, kStart + 1h);
  f.queues.park(f.pod("second", kVision, 2), kWaitsForTurn, kStart + 1h);
  CHECK(f.next() == nullptr);
  f.queues.remove(first);
  REQUIRE(f.next() != nullptr);
  CHECK(f.next()->pod.metadata.name == "second");
}

TEST_CASE("a pod that belongs to another queue has its turn there") {
  Fixture f;
  WaitingPod& parked = f.pod("parked", kVision);
  WaitingPod& resting = f.pod("resting", kVision);
  WaitingPod& gated = f.pod("gated", kVision);
  f.queues.park(parked, kWaitsForQuota, kStart + 1h);
  f.queues.back_off(resting, kStart + 1s);
  f.queues.gate(gated);
  for (WaitingPod* each : {&parked, &resting, &gated}) f.queues.move(*each, kMainQueue);
  CHECK(f.queues.of(kVision).line().size() == 0);
  CHECK(f.queues.pods().size() == 3);
  CHECK(parked.place == QueuePlace::kActive);
  CHECK(resting.place == QueuePlace::kBackoff);
  CHECK(f.queues.next_deadline() == kStart + 1s);
  CHECK(gated.place == QueuePlace::kGated);
  CHECK(f.drain() == Names{"parked"});
}
