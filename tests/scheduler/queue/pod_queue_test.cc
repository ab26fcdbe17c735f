#include "scheduler/queue/queues.h"
#include "tests/scheduler/queue/fixed_accounts.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <chrono>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <vector>

using namespace sched;
using namespace std::chrono_literals;

namespace {

constexpr Time kStart{1'000s};

struct Queue {
  ResourceNames names;
  Shapes shapes;
  std::deque<WaitingPod> pods;
  FixedAccounts accounts;
  Queues queue{accounts};
  std::set<std::string> fitting;  // names of pods whose shape fits now

  Queue() {
    accounts.obstacle_of = [this](const WaitingPod& pod) -> std::optional<WaitsFor> {
      if (fitting.contains(pod.pod.metadata.name)) return std::nullopt;
      return kWaitsForNodes;
    };
  }

  WaitingPod& pod(const std::string& name, std::int32_t priority = 0, Time created = kStart,
                  int gpus = 1) {
    WaitingPod& made = pods.emplace_back();
    made.pod = tests::pod(name).priority(priority).gpus(gpus);
    made.shape = shapes.intern(shape_of(made.pod, names));
    made.order = {.priority = priority, .created = created, .arrival = pods.size()};
    return made;
  }
  WaitingPod* next() { return queue.next(); }
  // Takes the pods whose turn it is until there is none.
  std::vector<std::string> drain() {
    std::vector<std::string> order;
    while (WaitingPod* pod = next()) {
      order.push_back(pod->pod.metadata.name);
      queue.remove(*pod);
    }
    return order;
  }
};

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("turns go by priority, then creation, then arrival") {
  Queue q;
  q.queue.activate(q.pod("late", 0, kStart + 2s));
  q.queue.activate(q.pod("early", 0, kStart + 1s));
  q.queue.activate(q.pod("early too", 0, kStart + 1s));
  q.queue.activate(q.pod("negative", -5, kStart));
  q.queue.activate(q.pod("important", 1000, kStart + 9s));
  CHECK(q.queue.active() == 5);
  CHECK(q.drain() == Names{"important", "early", "early too", "late", "negative"});
  CHECK(q.queue.active() == 0);
}

TEST_CASE("a pod is in one place, the last it was put to") {
  Queue q;
  WaitingPod& pod = q.pod("a");
  const auto counts = [&] {
    return std::vector<std::size_t>{q.queue.active(), q.queue.backoff(), q.queue.unschedulable(),
                                    q.queue.gated()};
  };
  using Counts = std::vector<std::size_t>;
  q.queue.activate(pod);
  CHECK(counts() == Counts{1, 0, 0, 0});
  q.queue.back_off(pod, kStart + 1s);
  CHECK(counts() == Counts{0, 1, 0, 0});
  q.queue.park(pod, {}, kWaitsForNodes, kStart + 2s);
  CHECK(counts() == Counts{0, 0, 1, 0});
  CHECK(q.queue.next_deadline() == kStart + 2s);
  q.queue.refuse(pod, kNodeChanged, kStart + 3s);
  CHECK(counts() == Counts{0, 0, 1, 0});
  CHECK(q.queue.next_deadline() == kStart + 3s);
  q.queue.gate(pod);
  CHECK(counts() == Counts{0, 0, 0, 1});
  CHECK(q.queue.next_deadline() == std::nullopt);
  q.queue.remove(pod);
  q.queue.remove(pod);
  CHECK(counts() == Counts{0, 0, 0, 0});
}

TEST_CASE("pods that are parked apart are looked at apart, and when others change") {
  Queue q;
  WaitingPod& plain = q.pod("plain", 0, kStart + 1s);
  WaitingPod& of_class = q.pod("of a class", 0, kStart + 2s);
  WaitingPod& alike = q.pod("of the class, too", 0, kStart + 3s);
  WaitingPod& alone = q.pod("alone", 0, kStart + 4s);
  q.fitting = {"plain", "of a class", "of the class, too", "alone"};
  const WaitsFor both = kWaitsForNodes | kWaitsForOthers;
  q.queue.park(plain, {}, kWaitsForNodes, kStart + 1h);
  CHECK_FALSE(q.queue.any_waits_for_others());
  q.queue.park(of_class, {.pod_class = 1}, both, kStart + 1h);
  q.queue.park(alike, {.pod_class = 1}, both, kStart + 1h);
  q.queue.park(alone, {.arrival = 9}, both, kStart + 1h);
  CHECK(q.queue.any_waits_for_others());
  CHECK(q.drain().empty());
  q.queue.others_changed();
  CHECK(q.drain() == Names{"of a class", "of the class, too", "alone"});
  CHECK_FALSE(q.queue.any_waits_for_others());
  q.queue.park(alone, {.arrival = 9}, both, kStart + 1h);
  q.queue.nodes_opened({});
  CHECK(q.drain() == Names{"plain", "alone"});
}

TEST_CASE("of pods that wait for nodes those are asked about that may have room there") {
  Queue q;
  NodeRoom little;
  little.needs(0, 1'000);
  NodeRoom much;
  much.needs(0, 8'000);
  const auto park = [&](WaitingPod& pod, const NodeRoom& least, const Apart& apart,
                        WaitsFor waits_for) {
    pod.least_room = least;
    q.queue.park(pod, apart, waits_for, kStart + 1h);
  };
  park(q.pod("small", 0, kStart, 1), little, {}, kWaitsForNodes);
  park(q.pod("large", 0, kStart, 2), much, {}, kWaitsForNodes);
  // Others that go elsewhere may help it on a node that is no other than it was.
  park(q.pod("for others", 0, kStart, 3), much, {.pod_class = 7}, kWaitsForNodes | kWaitsForOthers);
  q.fitting = {"small", "large", "for others"};
  q.queue.nodes_opened({});
  CHECK(q.drain() == Names{"for others"});
  q.queue.nodes_opened(little);
  CHECK(q.drain() == Names{"small"});
  q.queue.nodes_opened(little);
  CHECK(q.drain().empty());
  q.queue.nodes_opened(much);
  CHECK(q.drain() == Names{"large"});
}

TEST_CASE("waiting times end in their order, not before") {
  Queue q;
  q.queue.back_off(q.pod("second"), kStart + 2s);
  q.queue.back_off(q.pod("first"), kStart + 1s);
  q.queue.park(q.pod("parked"), {}, kWaitsForNodes, kStart + 3s);
  q.queue.advance(kStart + 1s - 1us);
  CHECK(q.drain() == Names{});
  q.queue.advance(kStart + 1s);
  CHECK(q.drain() == Names{"first"});
  CHECK(q.queue.next_deadline() == kStart + 2s);
  q.queue.advance(kStart + 3s);
  CHECK(q.drain() == Names{"second", "parked"});
}

TEST_CASE("refused pods are woken by what they wait for") {
  Queue q;
  q.queue.refuse(q.pod("storage"), kStorageChanged, kStart + 1h);
  q.queue.refuse(q.pod("pods", 1), kBoundPodChanged | kBoundPodRemoved, kStart + 1h);
  q.queue.refuse(q.pod("pods too", 2), kBoundPodRemoved | kStorageChanged, kStart + 1h);
  q.queue.wake(kNodeChanged);
  CHECK(q.drain() == Names{});
  q.queue.wake(kBoundPodRemoved);
  CHECK(q.drain() == Names{"pods too", "pods"});
  q.queue.wake(kStorageChanged | kNodeChanged);
  CHECK(q.drain() == Names{"storage"});
}

TEST_CASE("of a parked shape that fits again one pod at a time has its turn, the best first") {
  Queue q;
  q.queue.park(q.pod("younger", 0, kStart + 1s), {}, kWaitsForNodes, kStart + 1h);
  q.queue.park(q.pod("older", 0, kStart), {}, kWaitsForNodes, kStart + 1h);
  CHECK(q.next() == nullptr);

  q.fitting = {"older"};
  CHECK(q.next() == nullptr);  // nothing opened up: not even asked
  q.queue.nodes_opened({});
  REQUIRE(q.next() != nullptr);
  CHECK(q.next()->pod.metadata.name == "older");
  q.queue.remove(*q.next());
  CHECK(q.next() == nullptr);  // the younger one was asked and does not fit
  q.fitting = {"younger"};
  CHECK(q.next() == nullptr);
  q.queue.nodes_opened({});
  CHECK(q.drain() == Names{"younger"});
}

TEST_CASE("priorities hold between active pods and parked shapes") {
  Queue q;
  q.queue.park(q.pod("parked high", 10, kStart, 4), {}, kWaitsForNodes, kStart + 1h);
  q.queue.park(q.pod("parked low", 1, kStart, 2), {}, kWaitsForNodes, kStart + 1h);
  q.queue.activate(q.pod("active middle", 5));
  q.fitting = {"parked high", "parked low"};
  q.queue.nodes_opened({});
  CHECK(q.drain() == Names{"parked high", "active middle", "parked low"});
}

TEST_CASE("parked shapes behind the active head are not asked about") {
  Queue q;
  q.queue.park(q.pod("parked", 1, kStart, 4), {}, kWaitsForNodes, kStart + 1h);
  q.queue.activate(q.pod("active", 5));
  q.queue.nodes_opened({});
  REQUIRE(q.next() != nullptr);
  CHECK(q.accounts.obstacles == 0);
  q.queue.remove(*q.next());
  CHECK(q.next() == nullptr);
  CHECK(q.accounts.obstacles == 1);
  CHECK(q.next() == nullptr);
  CHECK(q.accounts.obstacles == 1);
}
