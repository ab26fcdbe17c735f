#include "scheduler/engine/max_tree.h"

#include "tests/support/catch.h"

#include <optional>
#include <random>
#include <vector>

using namespace sched;

TEST_CASE("the tree's best is what a scan finds, whatever changes together") {
  for (const std::size_t size : {1U, 2U, 5U, 16U, 37U}) {
    std::mt19937 random(static_cast<unsigned>(size));
    std::vector<std::optional<int>> values(size);
    // Equal values fall to the smaller slot.
    const auto better = [&](NodeSlot a, NodeSlot b) {
      const int va = values[a].value_or(-1);
      const int vb = values[b].value_or(-1);
      return va != vb ? va > vb : a < b;
    };
    const auto scan = [&] {
      NodeSlot best = kNoSlot;
      for (NodeSlot slot = 0; slot < size; ++slot) {
        if (values[slot] && (best == kNoSlot || better(slot, best))) best = slot;
      }
      return best;
    };
    MaxTree tree;
    CHECK(tree.best() == kNoSlot);
    tree.rebuild(
        size, [&](NodeSlot slot) { return values[slot].has_value(); }, better);
    for (int round = 0; round < 2000; ++round) {
      std::vector<NodeSlot> changed;
      for (std::size_t i = 0; i < 1 + random() % 4; ++i) {
        const auto slot = static_cast<NodeSlot>(random() % size);
        values[slot] = random() % 3 == 0 ? std::nullopt : std::optional<int>(random() % 8);
        changed.push_back(slot);
      }
      for (const NodeSlot slot : changed) tree.update(slot, values[slot].has_value(), better);
      REQUIRE(tree.best() == scan());
    }
  }
}
