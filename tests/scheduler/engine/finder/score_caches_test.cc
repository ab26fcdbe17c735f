// How much is kept of nodes' answers to shapes, and what is still known when they have to go.
#include "scheduler/engine/finder/score_caches.h"

#include "scheduler/cluster/placement.h"
#include "tests/scheduler/engine/finder/random_nodes.h"
#include "tests/scheduler/engine/harness.h"
#include "tests/support/catch.h"

#include <deque>
#include <optional>
#include <set>
#include <string>
#include <vector>

using namespace sched;
using namespace tests;

TEST_CASE("large shapes take as much of the bound as they hold") {
  const auto all_profiles = profiles();
  RandomNodes world(5);
  for (int i = 0; i < 10; ++i) world.change();
  WorkloadStatistics statistics(std::nullopt, false);
  ScoreCaches caches(world.nodes, all_profiles, world.names, statistics, std::size_t{10} << 20);
  // Each some 100 kB, and half a megabyte with what is made of it: twenty fill the bound.
  for (int i = 0; i < 100; ++i) {
    std::vector<std::string> values;
    for (int k = 0; k < 2'000; ++k) values.push_back(std::string(40, 'v') + std::to_string(k));
    values.push_back(std::to_string(i));
    const PodBuilder pod = our_pod("p").requires_nodes({term({label("zone").in(values)})});
    caches.get(0, world.shapes.intern(shape_of(pod, world.names)));
    REQUIRE(caches.size() <= 25);
    REQUIRE(world.shapes.size() <= 25);  // what is dropped holds nothing any more
  }
  CHECK(caches.size() > 10);
}

TEST_CASE("on few nodes what the shapes themselves take bounds their number") {
  const auto all_profiles = profiles();
  RandomNodes world(5);
  for (int i = 0; i < 10; ++i) world.change();
  WorkloadStatistics statistics(std::nullopt, false);
  ScoreCaches caches(world.nodes, all_profiles, world.names, statistics, std::size_t{1} << 20);
  std::vector<ShapeRef> shapes;
  for (int i = 1; i <= 1'000; ++i) {
    shapes.push_back(world.shapes.intern(
        shape_of(our_pod("p").gpus(100).cpu(std::to_string(i) + "m"), world.names)));
    caches.get(0, shapes.back());
    REQUIRE(caches.size() <= (std::size_t{1} << 20) / ScoreCaches::kMemoryOfShape);
  }
  CHECK(caches.size() > 50);
}

TEST_CASE("of shapes that no node takes that much is kept when the nodes' answers have to go") {
  const auto all_profiles = profiles();
  RandomNodes world(7);
  const auto has = [&](int number, int gpus) {
    world.nodes.upsert(facts_of(node("n" + std::to_string(number)).gpus(gpus), world.names));
  };
  for (int i = 0; i < 6'000; ++i) has(i, 2);
  WorkloadStatistics statistics(std::nullopt, false);
  ScoreCaches caches(world.nodes, all_profiles, world.names, statistics, std::size_t{400} << 10);
  std::vector<ShapeRef> shapes;
  for (int gpus = 1; gpus <= 20; ++gpus) {
    shapes.push_back(world.shapes.intern(shape_of(our_pod("p").gpus(gpus + 1), world.names)));
    caches.get(0, shapes.back());
  }
  // The first fits: of it nothing is kept.
  CHECK(caches.size() + caches.refused() == 19);
  REQUIRE(caches.refused() > 10);
  const auto known = [&] {
    std::set<int> gpus;
    for (int i = 0; i < 20; ++i) {
      if (caches.known_refusal(0, shapes[static_cast<std::size_t>(i)])) gpus.insert(i + 2);
    }
    return gpus;
  };
  std::set<int> want;
  for (int gpus = 3; gpus < 22; ++gpus) want.insert(gpus);
  CHECK(known() == want);
  has(3, 1);
  CHECK(known() == want);
  has(3, 5);
  for (const int fits : {3, 4, 5}) want.erase(fits);
  CHECK(known() == want);
  world.nodes.erase("n3");
  has(20'000, 7);
  for (const int fits : {6, 7}) want.erase(fits);
  CHECK(known() == want);
  // Once the nodes' answers are kept again, they say it.
  caches.get(0, shapes[6]);
  CHECK(caches.known_refusal(0, shapes[6]) == RefusedBy::kFacts);
}

TEST_CASE("how all nodes refuse a shape is known with and without the nodes' answers") {
  const auto all_profiles = profiles();
  RandomNodes world(7);
  const auto has = [&](const NodeBuilder& node) {
    world.nodes.upsert(facts_of(node, world.names));
  };
  std::deque<Placement> taken;
  const Claim one = claim_of(shape_of(our_pod("q").gpus(1), world.names));
  for (int i = 0; i < 6'000; ++i) {
    const std::string name = "n" + std::to_string(i);
    has(node(name).gpus(2));
    taken.emplace_back(world.nodes, world.nodes.find(name), Occupant{.claim = one});
  }
  WorkloadStatistics statistics(std::nullopt, false);
  ScoreCaches caches(world.nodes, all_profiles, world.names, statistics, std::size_t{400} << 10);
  const auto intern = [&](const PodBuilder& pod) {
    return world.shapes.intern(shape_of(pod, world.names));
  };
  const ShapeRef choosy = intern(our_pod("p").gpus(1).selects("pool", "own"));
  const ShapeRef large = intern(our_pod("p").gpus(3));
  const ShapeRef crowded = intern(our_pod("p").gpus(2));
  const ShapeRef fits = intern(our_pod("p").gpus(1));
  CHECK(caches.get(0, choosy).refused_by() == RefusedBy::kFacts);
  CHECK(caches.get(0, large).refused_by() == RefusedBy::kFacts);
  CHECK(caches.get(0, crowded).refused_by() == RefusedBy::kUsage);
  CHECK(caches.get(0, fits).refused_by() == std::nullopt);
  for (int gpus = 4; gpus <= 20; ++gpus) caches.get(0, intern(our_pod("p").gpus(gpus)));
  CHECK(caches.known_refusal(0, choosy) == RefusedBy::kFacts);
  CHECK(caches.known_refusal(0, large) == RefusedBy::kFacts);
  CHECK(caches.known_refusal(0, crowded) == RefusedBy::kUsage);
  CHECK(caches.known_refusal(0, fits) == std::nullopt);
  // A node that would take it but for its pods.
  has(node("n7").gpus(1).labelled("pool", "own"));
  CHECK(caches.known_refusal(0, choosy) == RefusedBy::kUsage);
  CHECK(caches.get(0, choosy).refused_by() == RefusedBy::kUsage);
}
