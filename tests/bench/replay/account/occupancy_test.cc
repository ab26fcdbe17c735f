// What is kept by changes equals what is counted anew.
#include "bench/replay/account/occupancy.h"

#include "tests/bench/replay/small_cluster.h"
#include "tests/support/catch.h"

#include <random>

using bench::replay::KindOfPod;
using bench::replay::Occupancy;
using sched::Fragmentation;
using sched::FreeByCause;

namespace {

const std::vector<sched::TypicalPod> kTypical = {
    {.cpu = 1'000, .gpus = 1, .milli = 300, .products = {}, .count = 5},
    {.cpu = 4'000, .gpus = 2, .milli = 1'000, .products = {"G2"}, .count = 2},
    {.cpu = 2'000, .gpus = 0, .milli = 0, .products = {}, .count = 1}};

sched::NodeFacts facts(const k8s::Node& node) {
  static sched::ResourceNames names;
  return sched::facts_of(node, names);
}

KindOfPod kind(std::int64_t gpus, std::int64_t milli, std::int64_t cpu) {
  KindOfPod kind;
  kind.gpu.gpus = gpus;
  kind.gpu.milli = milli;
  kind.gpu_milli = gpus * milli;
  kind.cpu_milli = cpu;
  return kind;
}

// Sums over the nodes, each looked at as it is.
void check_against_a_recount(const Occupancy& occupancy) {
  std::int64_t capacity = 0;
  std::int64_t taken = 0;
  FreeByCause free{};
  Fragmentation fragmentation(kTypical);
  for (const Occupancy::Node& node : occupancy.nodes()) {
    if (!node.present) continue;
    capacity += node.gpus * 1'000;
    std::vector<std::int32_t> left;
    for (std::size_t i = 0; i < static_cast<std::size_t>(node.gpus); ++i) {
      CHECK(node.taken_of(i) >= 0);
      CHECK(node.taken_of(i) <= 1'000);
      taken += node.taken_of(i);
      left.push_back(1'000 - node.taken_of(i));
    }
    const auto causes = fragmentation.free_by_cause(fragmentation.product_id(node.product),
                                                    node.cpu_milli - node.cpu_taken, left);
    for (std::size_t i = 0; i < causes.size(); ++i) free[i] += causes[i];
  }
  CHECK(occupancy.capacity() == capacity);
  CHECK(occupancy.taken() == taken);
  CHECK(occupancy.free_by_cause() == free);
}

}  // namespace

TEST_CASE("what is free by cause sums up to what is free") {
  Occupancy occupancy{Fragmentation(kTypical)};
  occupancy.upsert_node(facts(tests::gpu_node("a", 4).product("G2").cpu("8")));
  (void)occupancy.take("a", kind(1, 400, 7'000), {{.device = 2, .milli = 400}});
  std::int64_t free = 0;
  for (const std::int64_t cause : occupancy.free_by_cause()) free += cause;
  CHECK(free == 3'600 * occupancy.weight());
}

TEST_CASE("whole GPUs take the first free devices where nobody names them") {
  Occupancy occupancy{Fragmentation(kTypical)};
  occupancy.upsert_node(facts(tests::gpu_node("a", 3)));
  const auto first = occupancy.take("a", kind(2, 1'000, 0), {});
  REQUIRE(first);
  (void)occupancy.take("a", kind(1, 1'000, 0), {});
  occupancy.give_back(*first);
  const Occupancy::Node& node = occupancy.nodes().front();
  CHECK(node.taken_of(0) == 0);
  CHECK(node.taken_of(1) == 0);
  CHECK(node.taken_of(2) == 1'000);
  CHECK(occupancy.taken() == 1'000);
}

TEST_CASE("nodes that go take what is on them out of the sums, and bring it back") {
  Occupancy occupancy{Fragmentation(kTypical)};
  occupancy.upsert_node(facts(tests::gpu_node("a", 2)));
  occupancy.upsert_node(facts(tests::gpu_node("b", 2)));
  const auto place = occupancy.take("a", kind(1, 1'000, 0), {});
  REQUIRE(place);
  occupancy.erase_node("a");
  CHECK(occupancy.capacity() == 2'000);
  CHECK(occupancy.taken() == 0);
  occupancy.upsert_node(facts(tests::gpu_node("a", 4)));
  CHECK(occupancy.capacity() == 6'000);
  CHECK(occupancy.taken() == 1'000);
  occupancy.give_back(*place);
  CHECK(occupancy.taken() == 0);
  CHECK_FALSE(occupancy.take("never seen", kind(1, 1'000, 0), {}));
}

TEST_CASE("of GPUs that a node does not have none are taken") {
  Occupancy occupancy{Fragmentation(kTypical)};
  occupancy.upsert_node(facts(tests::gpu_node("a", 2)));
  occupancy.upsert_node(facts(tests::gpu_node("b", 2)));
  const auto place = occupancy.take("a", kind(2, 1'000, 0), {});
  REQUIRE(place);
  occupancy.upsert_node(facts(tests::gpu_node("a", 0)));  // its device plugin restarts
  CHECK(occupancy.capacity() == 2'000);
  CHECK(occupancy.taken() == 0);
  occupancy.upsert_node(facts(tests::gpu_node("a", 2)));
  CHECK(occupancy.taken() == 2'000);
  (void)occupancy.take("b", kind(5, 1'000, 0), {});  // it was there, on more than there is now
  CHECK(occupancy.taken() == 4'000);
  occupancy.give_back(*place);
  CHECK(occupancy.taken() == 2'000);
}

TEST_CASE("sums kept by changes equal a recount") {
  std::mt19937_64 random(7);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  Occupancy occupancy{Fragmentation(kTypical)};
  const std::vector<std::string> names{"a", "b", "c"};
  for (const std::string& name : names) {
    occupancy.upsert_node(facts(tests::gpu_node(name, 4).product(name == "a" ? "G2" : "T4")));
  }
  std::vector<Occupancy::Place> places;
  for (int i = 0; i < 2'000; ++i) {
    if (below(3) == 0 && !places.empty()) {
      const std::size_t which = below(places.size());
      occupancy.give_back(places[which]);
      places.erase(places.begin() + static_cast<std::ptrdiff_t>(which));
    } else {
      const bool share = below(2) == 0;
      const KindOfPod pod = share ? kind(1, 1 + static_cast<std::int64_t>(below(999)), 500)
                                  : kind(1 + static_cast<std::int64_t>(below(3)), 1'000, 900);
      auto place = occupancy.take(names[below(names.size())], pod, {});
      REQUIRE(place);
      if (place->devices.empty()) {
        occupancy.give_back(*place);  // the node was full
      } else {
        places.push_back(*std::move(place));
      }
    }
    if (i % 50 == 0) check_against_a_recount(occupancy);
  }
  check_against_a_recount(occupancy);
}
