#include "scheduler/engine/finder/known_refusals.h"

#include "tests/support/catch.h"

#include <cstddef>
#include <map>
#include <random>
#include <utility>
#include <vector>

using namespace sched;
namespace {

KnownRefusal any(std::mt19937& random) {
  switch (random() % 3) {
    case 0:
      return {};
    case 1:
      return KnownRefusal::by_facts();
    default:
      return KnownRefusal::by_usage(
          NodeAnswer::refused(static_cast<VerdictCounts::Id>(random() % 200), random() % 2 == 0));
  }
}

}  // namespace

TEST_CASE("a known refusal is its answer, or nothing where the id of the verdict is too large") {
  CHECK_FALSE(KnownRefusal().is_by_facts());
  CHECK_FALSE(KnownRefusal().is_by_usage());
  CHECK(KnownRefusal::by_facts().is_by_facts());
  CHECK_FALSE(KnownRefusal::by_facts().is_by_usage());
  std::size_t known = 0;
  for (VerdictCounts::Id id = 0; id < 1'000; ++id) {
    for (const bool facts_pass : {false, true}) {
      const NodeAnswer answer = NodeAnswer::refused(id, facts_pass);
      const KnownRefusal refusal = KnownRefusal::by_usage(answer);
      CHECK_FALSE(refusal.is_by_facts());
      if (refusal.is_by_usage()) {
        ++known;
        CHECK(refusal.answer() == answer);
      } else {
        CHECK(refusal == KnownRefusal());
      }
    }
  }
  CHECK(known == 254);
}

// Shapes come and go, and nodes come, as a map would keep them.
TEST_CASE("no shape sees the refusals of the shapes beside it, or of the one before it") {
  constexpr NodeSlot kNodes = 40;
  std::mt19937 random(3);
  KnownRefusals::Places places;
  std::vector<std::pair<KnownRefusals, std::map<NodeSlot, KnownRefusal>>> shapes;
  NodeSlot nodes = 1;
  for (int i = 0; i < 6'000; ++i) {
    if (random() % 30 == 0 && shapes.size() < 200) {
      shapes.emplace_back(places.add(), std::map<NodeSlot, KnownRefusal>{});
      shapes.back().first.grow(nodes);
      for (NodeSlot slot = 0; slot < nodes; ++slot)
        REQUIRE(shapes.back().first[slot] == KnownRefusal());
    }
    if (random() % 60 == 0 && !shapes.empty()) {
      const std::size_t gone = random() % shapes.size();
      std::vector<std::pair<KnownRefusals, std::map<NodeSlot, KnownRefusal>>> left;
      for (std::size_t at = 0; at < shapes.size(); ++at) {
        if (at != gone) left.push_back(std::move(shapes[at]));
      }
      shapes = std::move(left);
    }
    if (random() % 100 == 0 && nodes < kNodes) {
      ++nodes;
      for (auto& [refusals, expected] : shapes) refusals.grow(nodes);
    }
    if (shapes.empty()) continue;
    auto& [refusals, expected] = shapes[random() % shapes.size()];
    const auto slot = static_cast<NodeSlot>(random() % nodes);
    const KnownRefusal now = any(random);
    refusals.set(slot, now);
    expected[slot] = now;
    if (i % 50 != 0) continue;
    for (auto& [known, want] : shapes) {
      for (NodeSlot each = 0; each < nodes; ++each) REQUIRE(known[each] == want[each]);
    }
  }
  CHECK(shapes.size() > 70);  // beyond what the first two tables hold
}

TEST_CASE("shapes share the memory of the table that they are in") {
  constexpr std::size_t kNodes = 10'000;
  KnownRefusals::Places places;
  std::vector<KnownRefusals> shapes;
  const auto memory = [&] {
    std::size_t bytes = 0;
    for (const KnownRefusals& each : shapes) bytes += each.memory();
    return bytes;
  };
  for (int i = 0; i < 8; ++i) {
    shapes.push_back(places.add());
    shapes.back().grow(kNodes);
    CHECK(8 * kNodes - memory() < shapes.size());  // a share is rounded down
  }
  for (int i = 0; i < 64; ++i) {
    shapes.push_back(places.add());
    shapes.back().grow(kNodes);
  }
  CHECK((8 + 64) * kNodes - memory() < shapes.size());
}
