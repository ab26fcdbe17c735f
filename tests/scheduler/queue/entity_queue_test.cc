#include "scheduler/queue/queues.h"
#include "tests/scheduler/queue/fixed_accounts.h"
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

struct Queue {
  std::deque<Named> pods;
  FixedAccounts accounts;
  Queues queue{accounts};
  std::set<std::string> fitting;  // names of entities; their kind fits now

  Queue() {
    accounts.obstacle_of = [this](const Entity& pod) -> std::optional<WaitsFor> {
      if (fitting.contains(name_of(pod))) return std::nullopt;
      return kWaitsForNodes;
    };
  }

  Entity& pod(const std::string& name, std::int32_t priority = 0, Time created = kStart,
              int gpus = 1) {
    Named& made = pods.emplace_back();
    made.name = name;
    made.kind = static_cast<std::uint32_t>(gpus);
    made.order = {.priority = priority, .created = created, .arrival = pods.size()};
    return made;
  }
  Entity* next() {
    queue.activate_woken(pods.size());
    return queue.next();
  }
  // Takes the pod that is next, until there is none.
  std::vector<std::string> drain() {
    std::vector<std::string> order;
    while (Entity* pod = next()) {
      order.push_back(name_of(*pod));
      queue.remove(*pod);
    }
    return order;
  }
};

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
  Entity& pod = q.pod("a");
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
  q.queue.refuse(pod, {{.kind = kNodeChanged}}, kStart + 3s);
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
  Entity& plain = q.pod("plain", 0, kStart + 1s);
  Entity& of_class = q.pod("of a class", 0, kStart + 2s);
  Entity& alike = q.pod("of the class, too", 0, kStart + 3s);
  Entity& alone = q.pod("alone", 0, kStart + 4s);
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
  CHECK(q.drain().empty());
  CHECK(q.queue.check_some_for_others(q.queue.changes(), 9) == 2);
  CHECK(q.drain() == Names{"of a class", "of the class, too", "alone"});
  CHECK_FALSE(q.queue.any_waits_for_others());
  q.queue.park(alone, {.arrival = 9}, both, kStart + 1h);
  q.queue.nodes_opened({});
  CHECK(q.drain() == Names{"plain"});
  CHECK(q.queue.check_some_for_others(q.queue.changes(), 9) == 1);
  CHECK(q.drain() == Names{"alone"});
}

TEST_CASE("those who wait for others are asked about in turn, some of each queue at a time") {
  Queue q;
  Names asked;
  const WaitsFor both = kWaitsForNodes | kWaitsForOthers;
  q.accounts.obstacle_of = [&](const Entity& pod) -> std::optional<WaitsFor> {
    asked.push_back(name_of(pod));
    return both;
  };
  const auto look = [&](const Changes& changes, std::size_t most) {
    asked.clear();
    q.queue.check_some_for_others(changes, most);
    CHECK(q.drain().empty());
    return asked;
  };
  std::uint64_t class_ = 0;
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    q.queue.park(q.pod(name), {.pod_class = ++class_}, both, kStart + 1h);
  }
  for (const char* name : {"other's", "other's second"}) {
    Entity& pod = q.pod(name);
    pod.queue = 7;
    q.queue.park(pod, {.pod_class = ++class_}, both, kStart + 1h);
  }
  CHECK(look(q.queue.changes(), 2).empty());  // nothing has changed
  q.queue.others_changed();
  const Changes round = q.queue.changes();
  CHECK(look(round, 2) == Names{"a", "b"});
  CHECK(look(round, 2) == Names{"other's", "other's second"});
  CHECK(look(round, 2) == Names{"c", "d"});
  // What changes meanwhile is for another round.
  q.queue.others_changed();
  CHECK(look(round, 2) == Names{"e"});
  CHECK(look(round, 2).empty());
  // "e" was asked after that.
  CHECK(look(q.queue.changes(), 9) == Names{"other's", "other's second", "a", "b", "c", "d"});
  // More room on nodes and other changes are for each some of their own, the oldest first.
  q.queue.others_changed();
  q.queue.nodes_opened({});
  CHECK(look(q.queue.changes(), 2) == Names{"other's", "other's second"});
  CHECK(look(q.queue.changes(), 2) == Names{"a", "b", "c", "e"});
  CHECK(look(q.queue.changes(), 2) == Names{"d"});
  CHECK(look(q.queue.changes(), 2).empty());
}

TEST_CASE("of pods that wait for nodes those are asked about that may have room there") {
  Queue q;
  NodeRoom little;
  little.needs(0, 1'000);
  NodeRoom much;
  much.needs(0, 8'000);
  const auto park = [&](Entity& pod, const NodeRoom& least, const Apart& apart,
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
  CHECK(q.queue.check_some_for_others(q.queue.changes(), 9) == 1);
  CHECK(q.drain() == Names{"for others"});
  q.queue.nodes_opened(little);
  CHECK(q.drain() == Names{"small"});
  q.queue.nodes_opened(little);
  CHECK(q.drain().empty());
  q.queue.nodes_opened(much);
  CHECK(q.drain() == Names{"large"});
}

TEST_CASE("pods that nodes refuse by their facts are asked about when a node has other facts") {
  Queue q;
  NodeRoom little;
  little.needs(0, 1'000);
  Entity& choosy = q.pod("choosy", 0, kStart, 1);
  choosy.least_room = little;
  q.queue.park(choosy, {}, kWaitsForFacts, kStart + 1h);
  q.queue.park(q.pod("lacks room", 0, kStart, 2), {}, kWaitsForNodes, kStart + 1h);
  q.fitting = {"choosy", "lacks room"};
  q.queue.nodes_opened(little);
  CHECK(q.drain() == Names{"lacks room"});
  // Whatever is free there: what it lacks from now on may be room.
  q.queue.facts_changed();
  CHECK(q.drain() == Names{"choosy"});
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

TEST_CASE("refused pods are woken by the objects that they wait for") {
  Queue q;
  const ObjectKey a{kStorageChanged, "ml", "a"};
  const ObjectKey b{kStorageChanged, "ml", "b"};
  const ObjectKey any{.kind = kNamespaceChanged};
  q.queue.refuse(q.pod("a"), {a}, kStart + 1h);
  q.queue.refuse(q.pod("b", 1), {b, a, b}, kStart + 1h);
  q.queue.refuse(q.pod("any", 2), {any, b}, kStart + 1h);
  q.queue.refuse(q.pod("none", 3), {}, kStart + 1h);
  CHECK(q.queue.any_refused());
  for (const ObjectKey& other :
       {ObjectKey{kStorageChanged, "ml", "c"}, ObjectKey{kStorageChanged, "team", "a"},
        ObjectKey{kDeviceClassChanged, "ml", "a"}, ObjectKey{.kind = kStorageChanged}}) {
    q.queue.wake(other);
    CHECK(q.drain() == Names{});
  }
  q.queue.wake({kNamespaceChanged, "", "n"});
  CHECK(q.drain() == Names{"any"});
  q.queue.wake(a);
  CHECK(q.drain() == Names{"b", "a"});
  CHECK_FALSE(q.queue.any_refused());
  q.queue.wake(b);
  CHECK(q.drain() == Names{});
  CHECK(q.queue.unschedulable() == 1);
  q.queue.advance(kStart + 1h);
  CHECK(q.drain() == Names{"none"});
}

TEST_CASE("woken pods become active a few at a time, each tenant in turn") {
  Queue q;
  const ObjectKey object{kStorageChanged, "", "a"};
  const auto refuse = [&](const std::string& name, std::uint64_t tenant, std::int32_t priority) {
    Entity& made = q.pod(name, priority);
    made.tenant = tenant;
    q.queue.refuse(made, {object}, kStart + 1h);
    return &made;
  };
  for (int i = 0; i < 5; ++i) refuse("crowd-" + std::to_string(i), 1, i);
  Entity* const gone = refuse("gone", 2, 9);
  refuse("second", 3, 0);
  refuse("third", 4, 0);
  q.queue.wake(object);
  q.queue.wake(object);
  q.queue.remove(*gone);
  CHECK_FALSE(q.queue.any_refused());
  CHECK(q.queue.any_woken());
  CHECK(q.queue.unschedulable() == 7);
  CHECK(q.queue.next() == nullptr);
  const auto some = [&](std::size_t most) {
    CHECK(q.queue.activate_woken(most) == most);
    Names names;
    while (Entity* pod = q.queue.next()) {
      names.push_back(name_of(*pod));
      q.queue.refuse(*pod, {object}, kStart + 1h);
    }
    return names;
  };
  CHECK(some(3) == Names{"crowd-4", "second", "third"});
  CHECK(some(2) == Names{"crowd-3", "crowd-2"});
  // Those that were tried are woken by the next change alone.
  CHECK(some(2) == Names{"crowd-1", "crowd-0"});
  CHECK(q.queue.activate_woken(1) == 0);
  CHECK_FALSE(q.queue.any_woken());
  q.queue.wake(object);
  CHECK(some(7).size() == 7);
}

TEST_CASE("a woken pod that is due by its time has its turn once") {
  Queue q;
  const ObjectKey object{kStorageChanged, "", "a"};
  q.queue.refuse(q.pod("a"), {object}, kStart + 1s);
  q.queue.wake(object);
  q.queue.advance(kStart + 1s);
  CHECK_FALSE(q.queue.any_woken());
  CHECK(q.drain() == Names{"a"});
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
  CHECK(name_of(*q.next()) == "older");
  q.queue.remove(*q.next());
  CHECK(q.next() == nullptr);  // the younger one was asked and does not fit
  q.fitting = {"younger"};
  CHECK(q.next() == nullptr);
  q.queue.nodes_opened({});
  CHECK(q.drain() == Names{"younger"});
}

TEST_CASE("priorities hold between what is active and parked kinds") {
  Queue q;
  q.queue.park(q.pod("parked high", 10, kStart, 4), {}, kWaitsForNodes, kStart + 1h);
  q.queue.park(q.pod("parked low", 1, kStart, 2), {}, kWaitsForNodes, kStart + 1h);
  q.queue.activate(q.pod("active middle", 5));
  q.fitting = {"parked high", "parked low"};
  q.queue.nodes_opened({});
  CHECK(q.drain() == Names{"parked high", "active middle", "parked low"});
}

TEST_CASE("parked kinds behind the active head are not asked about") {
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
