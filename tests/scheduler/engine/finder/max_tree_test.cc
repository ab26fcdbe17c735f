#include "scheduler/engine/finder/max_tree.h"

#include "tests/support/catch.h"

#include <algorithm>
#include <random>
#include <vector>

using namespace sched;

namespace {

std::vector<NodeSlot> best_of(const std::vector<NodeAnswer>& answers) {
  std::vector<NodeSlot> best;
  for (NodeSlot slot = 0; slot < answers.size(); ++slot) {
    if (!answers[slot].is_feasible()) continue;
    if (!best.empty() && answers[slot].is_better_than(answers[best.front()])) best.clear();
    if (best.empty() || answers[slot] == answers[best.front()]) best.push_back(slot);
  }
  return best;
}

NodeAnswer draw(std::mt19937& random) {
  switch (random() % 4) {
    case 0:
      return {};
    case 1:
      return NodeAnswer::refused(static_cast<VerdictCounts::Id>(random() % 3), random() % 2 == 0);
    default:
      return NodeAnswer::feasible(static_cast<std::int64_t>(random() % 8));
  }
}

}  // namespace

// Rounds that are full or not, on one level and on up to four.
TEST_CASE("the tree's best is what a scan finds, whatever changes together") {
  for (const std::size_t size : {1U, 15U, 16U, 17U, 200U, 256U, 257U, 4'096U, 4'097U, 9'000U}) {
    CAPTURE(size);
    std::mt19937 random(static_cast<unsigned>(size));
    std::vector<NodeAnswer> answers(size);
    std::vector<unsigned> lots(size);
    for (unsigned& lot : lots) lot = static_cast<unsigned>(random());
    const auto before = [&](NodeSlot a, NodeSlot b) {
      return lots[a] != lots[b] ? lots[a] < lots[b] : a < b;
    };
    MaxTree tree;
    CHECK(tree.best() == kNoSlot);
    tree.rebuild(answers, before);
    CHECK(tree.best() == kNoSlot);
    for (int round = 0; round < 1000; ++round) {
      std::vector<NodeSlot> changed;
      for (std::size_t i = 0; i < 1 + random() % 4; ++i) {
        // The best is what changes most often.
        const bool best = tree.best() != kNoSlot && random() % 2 == 0;
        const NodeSlot slot = best ? tree.best() : static_cast<NodeSlot>(random() % size);
        answers[slot] = draw(random);
        if (random() % 8 == 0) lots[slot] = static_cast<unsigned>(random());
        changed.push_back(slot);
      }
      for (const NodeSlot slot : changed) tree.update(answers, slot, before);

      const std::vector<NodeSlot> expected = best_of(answers);
      std::vector<NodeSlot> equals;
      if (tree.best() != kNoSlot) {
        tree.for_each_equal(answers, answers[tree.best()],
                            [&](NodeSlot slot) { equals.push_back(slot); });
      }
      REQUIRE(equals == expected);
      const auto first = std::min_element(expected.begin(), expected.end(), before);
      REQUIRE(tree.best() == (first == expected.end() ? kNoSlot : *first));
    }
  }
}

TEST_CASE("a tree that is made empty knows what it is told one by one") {
  std::vector<NodeAnswer> answers(1'000);
  MaxTree tree;
  const auto before = [](NodeSlot a, NodeSlot b) { return a < b; };
  const auto visited = [&](NodeAnswer answer) {
    std::vector<NodeSlot> slots;
    tree.for_each_equal(answers, answer, [&](NodeSlot slot) { slots.push_back(slot); });
    return slots;
  };
  CHECK(tree.is_unmade());
  CHECK(visited(NodeAnswer::feasible(1)).empty());
  tree.make_empty(answers.size());
  CHECK_FALSE(tree.is_unmade());
  CHECK(tree.best() == kNoSlot);
  for (const NodeSlot slot : {70U, 3U, 999U}) {
    answers[slot] = NodeAnswer::feasible(slot == 3 ? 2 : 1);
    tree.update(answers, slot, before);
  }
  CHECK(tree.best() == 3);
  // Also one in a round that a better one has won.
  answers[4] = NodeAnswer::feasible(1);
  tree.update(answers, 4, before);
  CHECK(visited(NodeAnswer::feasible(1)) == std::vector<NodeSlot>{4, 70, 999});
  CHECK(visited(NodeAnswer::feasible(2)) == std::vector<NodeSlot>{3});
}
