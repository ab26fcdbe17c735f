#include "scheduler/engine/finder/ruled_out_nodes.h"

#include "tests/support/catch.h"

#include <cstddef>
#include <map>
#include <random>
#include <utility>
#include <vector>

using namespace sched;

// Shapes come and go, and nodes come, as a map would keep them.
TEST_CASE(
    "no shape sees what is ruled out for the shapes beside it, or was for the one before it") {
  constexpr NodeSlot kNodes = 40;
  std::mt19937 random(3);
  RuledOutNodes::Places places;
  std::vector<std::pair<RuledOutNodes, std::map<NodeSlot, bool>>> shapes;
  NodeSlot nodes = 1;
  for (int i = 0; i < 6'000; ++i) {
    if (random() % 30 == 0 && shapes.size() < 200) {
      shapes.emplace_back(places.add(), std::map<NodeSlot, bool>{});
      shapes.back().first.grow(nodes);
      for (NodeSlot slot = 0; slot < nodes; ++slot) REQUIRE_FALSE(shapes.back().first[slot]);
    }
    if (random() % 60 == 0 && !shapes.empty()) {
      const std::size_t gone = random() % shapes.size();
      std::vector<std::pair<RuledOutNodes, std::map<NodeSlot, bool>>> left;
      for (std::size_t at = 0; at < shapes.size(); ++at) {
        if (at != gone) left.push_back(std::move(shapes[at]));
      }
      shapes = std::move(left);
    }
    if (random() % 100 == 0 && nodes < kNodes) {
      ++nodes;
      for (auto& [ruled_out, expected] : shapes) ruled_out.grow(nodes);
    }
    if (shapes.empty()) continue;
    auto& [ruled_out, expected] = shapes[random() % shapes.size()];
    const auto slot = static_cast<NodeSlot>(random() % nodes);
    const bool now = random() % 2 == 0;
    ruled_out.set(slot, now);
    expected[slot] = now;
    if (i % 50 != 0) continue;
    for (auto& [bits, want] : shapes) {
      for (NodeSlot each = 0; each < nodes; ++each) REQUIRE(bits[each] == want[each]);
    }
  }
  CHECK(shapes.size() > 70);  // beyond what the first two tables hold
}

TEST_CASE("shapes share the memory of the table that they are in") {
  constexpr std::size_t kNodes = 10'000;
  RuledOutNodes::Places places;
  std::vector<RuledOutNodes> shapes;
  const auto memory = [&] {
    std::size_t bytes = 0;
    for (const RuledOutNodes& each : shapes) bytes += each.memory();
    return bytes;
  };
  for (int i = 0; i < 8; ++i) {
    shapes.push_back(places.add());
    shapes.back().grow(kNodes);
    CHECK(kNodes - memory() < shapes.size());  // a share is rounded down
  }
  for (int i = 0; i < 64; ++i) {
    shapes.push_back(places.add());
    shapes.back().grow(kNodes);
  }
  CHECK(9 * kNodes - memory() < shapes.size());
}
