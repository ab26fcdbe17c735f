// ScoreCache::for_each_kind: what a ruling says of the nodes that take a shape.
#include "scheduler/engine/finder/score_cache.h"
#include "scheduler/engine/report/ruled_out.h"
#include "tests/scheduler/engine/finder/random_nodes.h"
#include "tests/scheduler/engine/harness.h"
#include "tests/support/catch.h"

#include <memory>
#include <optional>
#include <random>
#include <set>
#include <vector>

using namespace sched;
using namespace tests;

namespace {

NodeSlot some_slot(const Nodes& nodes, std::mt19937& random) {
  return static_cast<NodeSlot>(random() % nodes.slots());
}

// Of zones, of ranks, and of single nodes.
Ruling some_ruling(const Nodes& nodes, std::mt19937& random) {
  const auto some_nodes = [&](std::size_t most) {
    std::set<NodeSlot> some;
    for (std::size_t i = random() % (most + 1); i > 0; --i) some.insert(some_slot(nodes, random));
    return std::vector<NodeSlot>(some.begin(), some.end());
  };
  Ruling ruling;
  for (const char* key : {"zone", "rank"}) {
    if (random() % 2 == 0) continue;
    const auto domains = std::make_shared<DomainIndex>(nodes, key);
    domains->catch_up();
    ruling.add(
        {.plugin = key, .reason = key},
        Ruling::ByDomain{domains, {random() % 2 == 0, random() % 2 == 0}, random() % 2 == 0});
  }
  ruling.add({.plugin = "named", .reason = "out"}, some_nodes(4), std::nullopt);
  if (random() % 4 == 0) ruling.add({.plugin = "named", .reason = "many"}, some_nodes(99), {});
  if (random() % 4 == 0) ruling.add({.plugin = "named", .reason = "others"}, {}, some_nodes(4));
  return ruling;
}

}  // namespace

TEST_CASE("nodes that take a shape are counted by what a ruling says of them, as one by one") {
  const auto all_profiles = profiles();
  quota::ClassSets sets;
  int by_kind_alone = 0;
  for (unsigned seed = 0; seed < 24; ++seed) {
    RandomNodes world(seed, 1'200);
    for (unsigned i = 0; i < 4'800; ++i) world.change();
    std::mt19937 random(seed);
    // Most of the others refuse so many nodes, or score them so differently, that there are few
    // nodes of a kind.
    const ShapeRef shape =
        seed % 2 == 0 ? world.shape()
                      : world.shapes.intern(shape_of(our_pod("p").tolerates("team"), world.names));
    ScoreCache cache(world.nodes, all_profiles[0], shape, PrepareContext{world.names});
    const Ruling ruling = some_ruling(world.nodes, random);
    if (random() % 4 != 0) cache.split_by(ruling);
    const Scope scope = random() % 2 == 0 ? Scope{} : Scope{&sets, sets.intern({1, 3})};
    cache.catch_up(scope);
    Trial trial(world.nodes);
    const NodeSlot touched = some_slot(world.nodes, random);
    if (world.nodes.present(touched)) trial.add(touched, Occupant{});

    RuledOut by_kind(ruling);
    std::size_t kinds = 0;
    std::size_t in_kinds = 0;
    cache.for_each_kind({.scope = scope, .ruling = &ruling, .trial = &trial},
                        [&](NodeSlot slot, std::size_t nodes) {
                          by_kind.add(slot, nodes);
                          ++kinds;
                          in_kinds += nodes;
                        });
    RuledOut one_by_one(ruling);
    std::size_t nodes = 0;
    for (NodeSlot slot = 0; slot < world.nodes.slots(); ++slot) {
      if (!cache.takes(slot, scope) || slot == touched) continue;
      one_by_one.add(slot);
      ++nodes;
    }
    CHECK(by_kind.reasons() == one_by_one.reasons());
    CHECK(by_kind.plugins() == one_by_one.plugins());
    CHECK(in_kinds == nodes);
    if (kinds < nodes / 2) ++by_kind_alone;
  }
  CHECK(by_kind_alone > 3);
}
