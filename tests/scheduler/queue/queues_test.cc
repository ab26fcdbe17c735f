// Several queues: which head is next, the places in line, and pods that change their queue.
#include "scheduler/queue/queues.h"

#include "tests/scheduler/queue/fixed_accounts.h"
#include "tests/support/catch.h"

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <vector>

using namespace sched;
using namespace std::chrono_literals;

namespace {

constexpr QueueId kVision = 7;
constexpr QueueId kSpeech = 8;

struct Fixture {
  std::deque<Named> pods;
  FixedAccounts accounts;
  Queues queues;
  std::set<std::string> blocked;  // names of pods that have no room in their quota

  explicit Fixture(bool main_first = false) : queues(accounts, main_first) {
    accounts.obstacle_of = [this](const Entity& each) -> std::optional<WaitsFor> {
      if (!blocked.contains(name_of(each))) return std::nullopt;
      return kWaitsForQuota;
    };
  }

  Entity& pod(const std::string& name, QueueId queue, int gpus = 1) {
    Named& made = pods.emplace_back();
    made.name = name;
    made.kind = static_cast<std::uint32_t>(gpus);
    made.order = {.priority = 0, .created = kStart, .arrival = pods.size()};
    made.queue = queue;
    return made;
  }
  Entity* next() { return queues.next(); }
  std::vector<std::string> drain() {
    std::vector<std::string> order;
    while (Entity* each = next()) {
      order.push_back(name_of(*each));
      queues.remove(*each);
    }
    return order;
  }
};

}  // namespace

TEST_CASE("the turn goes to the queue that ranks first now, of equals to the older pod") {
  Fixture f;
  f.queues.activate(f.pod("m1", kMainQueue));
  f.queues.activate(f.pod("v1", kVision));
  f.queues.activate(f.pod("s1", kSpeech));
  f.queues.activate(f.pod("v2", kVision));
  f.accounts.used = {{kVision, 1}, {kSpeech, 1}};
  CHECK(name_of(*f.next()) == "v1");
  f.accounts.used[kSpeech] = 0;
  f.queues.account_changed(kSpeech);
  CHECK(f.drain() == Names{"s1", "v1", "v2", "m1"});
}

TEST_CASE("whether a pod would have its turn if its quota stood elsewhere") {
  Fixture f;
  f.queues.activate(f.pod("s1", kSpeech));
  f.queues.activate(f.pod("v1", kVision));
  f.accounts.used = {{kVision, 1}, {kSpeech, 2}};
  Entity* const v1 = f.next();
  REQUIRE(name_of(*v1) == "v1");
  CHECK(f.queues.comes_first(*v1, FixedAccounts::beyond(1)));
  CHECK_FALSE(f.queues.comes_first(*v1, FixedAccounts::beyond(2)));  // of equals the older pod
  CHECK_FALSE(f.queues.comes_first(*v1, FixedAccounts::beyond(3)));
}

TEST_CASE("a pod has its turn before quotas that wait to borrow if its quota stands before them") {
  Fixture f;
  f.accounts.used = {{kSpeech, 5}};
  f.accounts.pools[kSpeech] = {1};
  f.blocked = {"s1"};
  f.queues.park(f.pod("s1", kSpeech), {}, kWaitsForQuota, kStart + 1h);
  CHECK(f.next() == nullptr);
  Entity& v1 = f.pod("v1", kVision);
  f.queues.activate(v1);
  REQUIRE(f.next() == &v1);
  CHECK(f.queues.comes_first(v1, FixedAccounts::beyond(6)));  // nothing is left to lend
  f.accounts.left[1] = 1;
  f.queues.pool_opened(1);
  REQUIRE(f.next() == &v1);
  CHECK(f.queues.comes_first(v1, FixedAccounts::beyond(4)));
  CHECK_FALSE(f.queues.comes_first(v1, FixedAccounts::beyond(5)));
}

TEST_CASE("a pod that can borrow only where its quota stands behind others waits for them") {
  Fixture f;
  f.accounts.used = {{kVision, 1}, {kSpeech, 2}};
  Entity& s1 = f.pod("s1", kSpeech);
  Entity& v1 = f.pod("v1", kVision);
  f.queues.activate(s1);
  f.queues.activate(v1);
  const auto behind = [&] {
    REQUIRE(f.next() == &v1);
    f.queues.borrows_at(v1, FixedAccounts::beyond(3));
    CHECK(f.next() == &s1);
  };
  SECTION("until its quota's account changes") {
    behind();
    f.queues.account_changed(kSpeech);
    CHECK(f.next() == &s1);
    f.queues.account_changed(kVision);
    CHECK(f.next() == &v1);
  }
  SECTION("until something opens") {
    behind();
    f.queues.quotas_changed();
    CHECK(f.next() == &v1);
  }
  SECTION("until a node has more room") {
    behind();
    f.queues.nodes_opened({});
    CHECK(f.next() == &v1);
  }
  SECTION("until its own quota has more, not another's") {
    behind();
    f.queues.quota_opened(kSpeech);
    CHECK(f.next() == &s1);
    f.queues.quota_opened(kVision);
    CHECK(f.next() == &v1);
  }
  SECTION("until a pool has more to lend") {
    behind();
    f.queues.pool_opened(1);
    CHECK(f.next() == &v1);
  }
  SECTION("until it is put elsewhere") {
    behind();
    f.queues.remove(v1);
    f.queues.activate(v1);
    CHECK(f.next() == &v1);
  }
  SECTION("until the others had their turn") {
    behind();
    f.queues.remove(s1);
    CHECK(f.next() == &v1);
  }
}

TEST_CASE("pods without quota have their turn before those of quotas where that is configured") {
  for (const bool main_first : {false, true}) {
    Fixture f(main_first);
    f.queues.activate(f.pod("v", kVision));
    f.queues.activate(f.pod("m", kMainQueue));
    CHECK(f.drain() == (main_first ? Names{"m", "v"} : Names{"v", "m"}));
  }
}

TEST_CASE("a tenant whose pods cost much searching waits until the others had their turns") {
  Fixture f;
  // Two tenants, with pods of two quotas and without; `large` searches all that a round gives.
  struct Pod {
    const char* name;
    QueueId queue;
    std::uint64_t tenant;
  };
  for (const Pod& each :
       {Pod{"large1", kMainQueue, 7}, Pod{"large2", kMainQueue, 7}, Pod{"small1", kMainQueue, 8},
        Pod{"large3", kMainQueue, 7}, Pod{"v-large1", kVision, 7}, Pod{"v-large2", kVision, 7},
        Pod{"s1", kSpeech, 8}, Pod{"small2", kMainQueue, 8}}) {
    Entity& pod = f.pod(each.name, each.queue);
    pod.tenant = each.tenant;
    f.queues.activate(pod);
  }
  f.accounts.used = {{kVision, 0}, {kSpeech, 1}};
  Names order;
  while (Entity* each = f.next()) {
    const std::string& name = name_of(*each);
    order.push_back(name);
    const bool is_large = name.find("large") != std::string::npos;
    f.accounts.nodes_searched += is_large ? Queues::kSearchedInRound : 10;
    f.queues.turn_is_over();
    f.queues.remove(*each);
  }
  // One large pod a round; within a round the usual order.
  CHECK(order ==
        Names{"v-large1", "s1", "small1", "small2", "v-large2", "large1", "large2", "large3"});
}

TEST_CASE("a pod that is put off has its turn although others always have some") {
  Fixture f;
  for (const char* name : {"large1", "large2"}) {
    Entity& pod = f.pod(name, kMainQueue);
    pod.tenant = 7;
    f.queues.activate(pod);
  }
  for (std::size_t i = 0; i < 2 * Queues::kTurnsOfOthers; ++i) {
    Entity& pod = f.pod("small", kMainQueue);
    pod.tenant = 8;
    f.queues.activate(pod);
  }
  Names order;
  while (Entity* each = f.next()) {
    order.push_back(name_of(*each));
    if (order.back() != "small") f.accounts.nodes_searched += Queues::kSearchedInRound;
    f.queues.turn_is_over();
    f.queues.remove(*each);
  }
  REQUIRE(order.size() == 2 + 2 * Queues::kTurnsOfOthers);
  CHECK(order[0] == "large1");
  CHECK(order[1 + Queues::kTurnsOfOthers] == "large2");
}

TEST_CASE("parked pods that are to be checked are put off, too, and lose nothing by it") {
  Fixture f;
  const auto parked = [&](const char* name, std::uint64_t tenant, int kind) -> Entity& {
    Entity& pod = f.pod(name, kMainQueue, kind);
    pod.tenant = tenant;
    f.queues.park(pod, {}, kWaitsForNodes, kStart + 1h);
    return pod;
  };
  parked("large1", 7, 1);
  parked("large2", 7, 2);
  parked("large3", 7, 3);
  Entity& leaves = parked("leaves", 7, 4);
  parked("small", 8, 5);
  Names asked;
  f.accounts.obstacle_of = [&](const Entity& each) -> std::optional<WaitsFor> {
    asked.push_back(name_of(each));
    f.accounts.nodes_searched += Queues::kSearchedInRound;
    return kWaitsForNodes;
  };
  f.queues.nodes_opened({});
  Entity* const first = f.next();
  CHECK(first == nullptr);
  CHECK(asked == Names{"large1", "small", "large2", "large3", "leaves"});

  // One that leaves while it is put off, or is parked anew, is in no round.
  asked.clear();
  f.queues.nodes_opened({});
  f.accounts.obstacle_of = [&](const Entity& each) -> std::optional<WaitsFor> {
    asked.push_back(name_of(each));
    f.accounts.nodes_searched += Queues::kSearchedInRound;
    if (name_of(each) == "small") return std::nullopt;
    return kWaitsForNodes;
  };
  Entity* const small = f.next();
  REQUIRE(small != nullptr);
  CHECK(name_of(*small) == "small");
  f.queues.remove(*small);
  f.queues.remove(leaves);
  CHECK(f.next() == nullptr);
  CHECK(asked == Names{"large1", "small", "large2", "large3"});
}

TEST_CASE("pods that wait for quota are not asked about when something else opens") {
  Fixture f;
  for (int i = 0; i < 100; ++i) {
    f.queues.park(f.pod("p" + std::to_string(i), kVision), {}, kWaitsForQuota, kStart + 1h);
  }
  f.blocked = {"p1"};
  f.queues.nodes_opened({});
  CHECK(f.next() == nullptr);
  CHECK(f.accounts.obstacles == 0);
  // Room for one: the first is asked about and taken, then the second, which finds none.
  f.queues.quota_opened(kVision);
  REQUIRE(f.next() != nullptr);
  CHECK(name_of(*f.next()) == "p0");
  f.queues.remove(*f.next());
  f.accounts.obstacles = 0;
  CHECK(f.next() == nullptr);
  CHECK(f.next() == nullptr);
  CHECK(f.accounts.obstacles == 1);
}

TEST_CASE(
    "pods that are known to have no room take no turn, and their quota is not ranked by them") {
  Fixture f;
  Entity& large = f.pod("large", kVision);
  f.queues.park(large, {}, kWaitsForNodes, kStart + 1h);
  f.queues.park(f.pod("small", kVision, 2), {}, kWaitsForNodes, kStart + 1h);
  f.queues.park(f.pod("s1", kSpeech, 2), {}, kWaitsForNodes, kStart + 1h);
  bool has_room = false;
  f.accounts.known_obstacle_of = [&](const Entity& each) -> std::optional<WaitsFor> {
    if (has_room || name_of(each) != "large") return std::nullopt;
    return kWaitsForNodes | kWaitsForQuota;
  };
  f.queues.nodes_opened({});
  CHECK(f.drain() == Names{"small", "s1"});
  CHECK(f.accounts.standings == 2);
  CHECK(f.accounts.obstacles == 2);
  CHECK(f.queues.waits_for(large) == (kWaitsForNodes | kWaitsForQuota));
  // It sleeps for what it is known to wait for.
  has_room = true;
  f.queues.quota_opened(kVision);
  CHECK(f.drain() == Names{"large"});
}

TEST_CASE("a pod that is not in line is looked at before its quota is ranked by it") {
  Fixture f;
  Entity& apart = f.pod("apart", kVision);
  f.queues.park(apart, {.pod_class = 1}, kWaitsForNodes | kWaitsForOthers, kStart + 1h);
  f.queues.park(f.pod("own", kVision, 2), {}, kWaitsForNodes, kStart + 1h);
  f.queues.park(f.pod("s1", kSpeech, 2), {}, kWaitsForNodes, kStart + 1h);
  f.accounts.within = {kVision};
  f.accounts.borrow = {&apart};
  f.accounts.used = {{kVision, 2}, {kSpeech, 1}};
  f.queues.nodes_opened({});
  REQUIRE(f.queues.check_some_for_others(f.queues.changes(), 1) == 1);
  SECTION("so it keeps no pod of its quota waiting if it has no room") {
    f.blocked = {"apart"};
    CHECK(f.drain() == Names{"own", "s1"});
  }
  SECTION("and if it has, it has its turn where its quota stands") {
    CHECK(f.next() == &apart);
    f.queues.borrows_at(apart, FixedAccounts::beyond(2));
    CHECK(f.drain() == Names{"s1", "apart", "own"});
  }
}

TEST_CASE("a queue whose line has changed is reported once, until it changes again") {
  using Ids = std::vector<QueueId>;
  Fixture f;
  Entity& first = f.pod("first", kVision);
  f.queues.activate(f.pod("no quota", kMainQueue));
  f.queues.activate(first);
  f.queues.activate(f.pod("other", kSpeech));
  f.queues.activate(f.pod("second", kVision));
  CHECK(f.queues.take_changed_lines() == Ids{kVision, kSpeech});
  CHECK(f.queues.take_changed_lines() == Ids{});
  // Its place among those that wait is another, not its place in line.
  f.queues.back_off(first, kStart + 1s);
  f.queues.account_changed(kSpeech);
  CHECK(f.queues.take_changed_lines() == Ids{});
  f.queues.remove(first);
  CHECK(f.queues.take_changed_lines() == Ids{kVision});
  f.queues.activate(first);
  CHECK(f.queues.take_changed_lines() == Ids{kVision});
}

TEST_CASE("each pod of a quota knows its place in line, whatever it waits for") {
  Fixture f;
  Entity& first = f.pod("first", kVision);
  Entity& second = f.pod("second", kVision);
  Entity& third = f.pod("third", kVision, 2);
  f.queues.back_off(first, kStart + 1s);
  f.queues.park(second, {}, kWaitsForQuota, kStart + 1h);
  f.queues.activate(third);
  const WaitingLine& line = f.queues.find(kVision)->line();
  CHECK(line.first() == &first);
  CHECK(line.before(third) == 2);
  // A pod that no change can help, or that waits for something else, does not make others wait.
  f.queues.park(first, {}, kWaitsForChange, kStart + 1h);
  CHECK(line.first() == &second);
  f.queues.refuse(second, {{kStorageChanged, "ml", "a"}}, kStart + 1h);
  CHECK(line.before(third) == 0);
  f.queues.wake({kStorageChanged, "ml", "a"});
  f.queues.activate_woken(1);
  CHECK(line.before(third) == 1);
  f.queues.gate(second);
  CHECK(line.size() == 1);
}

TEST_CASE("an entity of several pods has one turn, one account and one reason, and counts as all") {
  Fixture f;
  f.queues.activate(f.pod("first", kVision));
  Entity& gang = f.pod("gang", kVision, 9);
  gang.pods = 8;
  f.queues.activate(gang);
  f.queues.activate(f.pod("last", kVision));
  CHECK(f.queues.active() == 10);
  CHECK(f.queues.entities().size() == 3);
  CHECK(f.queues.find(kVision)->line().before(f.pods.back()) == 2);

  f.blocked = {"gang"};
  f.queues.park(gang, {}, kWaitsForQuota, kStart + 1h);
  CHECK(f.queues.active() == 2);
  CHECK(f.queues.unschedulable() == 8);
  f.queues.quota_opened(kVision);
  CHECK(f.drain() == Names{"first", "last"});
  CHECK(f.accounts.obstacles == 1);  // asked about as a whole
  f.blocked.clear();
  f.queues.quota_opened(kVision);
  CHECK(f.drain() == Names{"gang"});
  CHECK(f.queues.unschedulable() == 0);
}

TEST_CASE("who waits for its turn is asked about when those before it are gone") {
  Fixture f;
  Entity& first = f.pod("first", kVision);
  f.queues.park(first, {}, kWaitsForQuota, kStart + 1h);
  f.queues.park(f.pod("second", kVision, 2), {}, kWaitsForTurn, kStart + 1h);
  CHECK(f.next() == nullptr);
  f.queues.remove(first);
  REQUIRE(f.next() != nullptr);
  CHECK(name_of(*f.next()) == "second");
}

TEST_CASE("the head of one queue that moves to be the head of another leaves both their turns") {
  constexpr QueueId kFirst = 6;
  for (const bool speech_is_new : {true, false}) {
    Fixture f;
    Entity& first = f.pod("first", kFirst);
    Entity& moved = f.pod("moved", kVision);
    if (!speech_is_new) {
      Entity& gone = f.pod("gone", kSpeech);
      f.queues.activate(gone);
      f.queues.remove(gone);
    }
    f.queues.activate(first);
    f.queues.activate(moved);
    REQUIRE(f.next() == &first);
    f.queues.move(moved, kSpeech);
    REQUIRE(f.next() == &first);
    f.queues.remove(first);
    CHECK(f.next() == &moved);
    f.queues.activate(f.pod("later", kSpeech));
    f.queues.activate(f.pod("last", kVision));
    CHECK(f.drain() == Names{"moved", "later", "last"});
  }
}

TEST_CASE("a pod that belongs to another queue has its turn there") {
  Fixture f;
  Entity& parked = f.pod("parked", kVision);
  Entity& resting = f.pod("resting", kVision);
  Entity& gated = f.pod("gated", kVision);
  f.queues.park(parked, {}, kWaitsForQuota, kStart + 1h);
  f.queues.back_off(resting, kStart + 1s);
  f.queues.gate(gated);
  for (Entity* each : {&parked, &resting, &gated}) f.queues.move(*each, kMainQueue);
  CHECK(f.queues.find(kVision)->line().size() == 0);
  CHECK(f.queues.entities().size() == 3);
  CHECK(parked.place == QueuePlace::kActive);
  CHECK(resting.place == QueuePlace::kBackoff);
  CHECK(f.queues.next_deadline() == kStart + 1s);
  CHECK(gated.place == QueuePlace::kGated);
  CHECK(f.drain() == Names{"parked"});
}

TEST_CASE(
    "a hundred GPUs freed at once for a thousand pods alike cost a hundred and one questions") {
  Fixture f;
  for (int i = 0; i < 1'000; ++i) {
    f.queues.park(f.pod("p" + std::to_string(i), kVision), {}, kWaitsForQuota, kStart + 1h);
  }
  int room = 100;
  f.accounts.obstacle_of = [&](const Entity&) -> std::optional<WaitsFor> {
    if (room > 0) return std::nullopt;
    return kWaitsForQuota;
  };
  f.queues.quota_opened(kVision);
  for (; Entity* each = f.next(); --room) f.queues.remove(*each);
  CHECK(f.queues.unschedulable() == 900);
  CHECK(f.accounts.obstacles == 101);
}

TEST_CASE(
    "whoever is told that its quota can help it now joins the line with all that are like it") {
  Fixture f;
  std::vector<Entity*> hopeless;
  for (const char* name : {"a", "b", "c"}) {
    hopeless.push_back(&f.pod(name, kVision));
    f.queues.park(*hopeless.back(), {}, kWaitsForChange, kStart + 1h);
  }
  f.queues.park(f.pod("other", kVision, 2), {}, kWaitsForQuota, kStart + 1h);
  CHECK(f.queues.find(kVision)->line().size() == 1);
  CHECK(f.queues.find(kVision)->parked_kinds().size() == 2);
  f.queues.rejoin(*hopeless[1]);
  CHECK(f.queues.find(kVision)->line().size() == 4);
  CHECK(f.drain() == Names{"a", "b", "c"});
}

namespace {

constexpr int kQuotas = 100;
constexpr int kShapes = 10;
constexpr quota::PoolId kPool = 0;

// A hundred quotas of one cohort, ten pods of different shapes parked in each, and nothing to lend.
struct Cohort : Fixture {
  Cohort() {
    accounts.obstacle_of = [this](const Entity&) -> std::optional<WaitsFor> {
      if (accounts.left[kPool] > 0) return std::nullopt;
      return kWaitsForQuota;
    };
    for (QueueId queue = 1; queue <= kQuotas; ++queue) {
      accounts.pools[queue] = {kPool};
      accounts.used[queue] = static_cast<int>(kQuotas - queue);
      for (int shape = 1; shape <= kShapes; ++shape) {
        queues.park(pod("p", queue, shape), {}, kWaitsForQuota, kStart + 1h);
      }
    }
    CHECK(next() == nullptr);
    forget();
  }
  void forget() { accounts.standings = accounts.obstacles = 0; }
  void lend(int gpus) {
    accounts.left[kPool] += gpus;
    queues.pool_opened(kPool);
  }
  // Takes the pod that is next; 0: there is none.
  QueueId take() {
    Entity* pod = next();
    if (pod == nullptr) return 0;
    const QueueId queue = pod->queue;
    queues.remove(*pod);
    accounts.left[kPool] -= 1;
    accounts.used[queue] += 1;
    queues.account_changed(queue);
    return queue;
  }
};

}  // namespace

TEST_CASE("of a hundred quotas that wait to borrow only those are looked at that can have some") {
  Cohort c;
  c.lend(1);
  CHECK(c.take() == kQuotas);  // the one that uses least
  CHECK(c.take() == 0);
  CHECK(c.accounts.obstacles == kShapes);  // its own others find nothing left
  CHECK(c.accounts.standings <= kShapes + 1);
  c.forget();
  c.lend(1);
  CHECK(c.take() == kQuotas - 1);  // of those that use as much the older
}

TEST_CASE("what a cohort lends goes round by who uses least, however much it is at once") {
  Cohort c;
  c.lend(5);
  std::vector<QueueId> turns;
  while (const QueueId queue = c.take()) turns.push_back(queue);
  CHECK(turns == std::vector<QueueId>{100, 99, 100, 98, 99});
  CHECK(c.accounts.standings < 5 * (kShapes + 2));
}

TEST_CASE("of two quotas that stand equally both are called for what a pool lends") {
  Fixture f;
  f.accounts.used = {{kVision, 1}, {kSpeech, 1}};
  f.accounts.pools = {{kVision, {1}}, {kSpeech, {1}}};
  f.blocked = {"v1", "s1"};
  f.queues.park(f.pod("s1", kSpeech), {}, kWaitsForQuota, kStart + 1h);
  f.queues.park(f.pod("v1", kVision), {}, kWaitsForQuota, kStart + 1h);
  REQUIRE(f.next() == nullptr);
  f.blocked.clear();
  f.accounts.left[1] = 2;
  f.queues.pool_opened(1);
  CHECK(f.drain() == Names{"s1", "v1"});
}

TEST_CASE("a quota that cannot use what there is keeps nobody behind it waiting") {
  Cohort c;
  c.accounts.obstacle_of = [&](const Entity& pod) -> std::optional<WaitsFor> {
    if (pod.queue != kQuotas && c.accounts.left[kPool] > 0) return std::nullopt;
    return kWaitsForQuota;
  };
  c.lend(1);
  CHECK(c.take() == kQuotas - 1);
  CHECK(c.take() == 0);
  // It is asked again when there is more.
  c.accounts.obstacle_of = [](const Entity&) { return std::nullopt; };
  c.lend(1);
  CHECK(c.take() == kQuotas);
}

TEST_CASE("a quota that is known to have no room for its pods is called whenever there is more") {
  Cohort c;
  c.accounts.known_obstacle_of = [&](const Entity& pod) -> std::optional<WaitsFor> {
    if (pod.queue == kQuotas || c.accounts.left[kPool] == 0) return kWaitsForQuota;
    return std::nullopt;
  };
  for (int i = 1; i < 3; ++i) {
    c.lend(1);
    CHECK(c.take() == static_cast<QueueId>(kQuotas - i));
  }
  c.accounts.known_obstacle_of = nullptr;
  c.lend(1);
  CHECK(c.take() == kQuotas);
}

TEST_CASE("a charge to one quota of many costs one standing") {
  Cohort c;
  for (QueueId queue = 1; queue <= kQuotas; ++queue) {
    c.queues.activate(c.pod("active", queue, kShapes + 1));
  }
  CHECK(c.next() != nullptr);
  c.forget();
  for (int i = 0; i < 10; ++i) {
    c.accounts.used[7] += 1;
    c.queues.account_changed(7);
    CHECK(c.next() != nullptr);
  }
  CHECK(c.accounts.standings == 10);
}

TEST_CASE("a quota that is called for a pool has its turn where it stands, not before") {
  Cohort c;
  c.accounts.within.insert(1);
  Entity& owner = c.pod("owner", 1, kShapes + 1);
  c.queues.activate(owner);
  c.lend(1);
  CHECK(c.next() == &owner);
  CHECK(c.accounts.obstacles == 0);  // no pod was called yet
}
