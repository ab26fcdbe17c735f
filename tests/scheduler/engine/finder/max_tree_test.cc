#include "scheduler/engine/finder/max_tree.h"

#include "tests/support/catch.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
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

// By drawn lots; hints are equal for many slots.
struct Lots {
  std::vector<unsigned> of;

  explicit Lots(std::size_t size) : of(size) {}
  [[nodiscard]] bool before(NodeSlot a, NodeSlot b) const {
    return of[a] != of[b] ? of[a] < of[b] : a < b;
  }
  [[nodiscard]] std::uint32_t hint(NodeSlot slot) const { return of[slot] >> 28; }
  void prefetch(NodeSlot, std::size_t) const {}
};

struct CountedReads {
  const std::vector<NodeAnswer>& answers;
  mutable std::size_t reads = 0;

  [[nodiscard]] NodeAnswer operator[](std::size_t slot) const {
    ++reads;
    return answers[slot];
  }
  [[nodiscard]] std::size_t size() const { return answers.size(); }
};

}  // namespace

// Rounds that are full or not, on one level and on up to four.
TEST_CASE("the tree's best is what a scan finds, whatever changes together") {
  for (const std::size_t size : {1U, 15U, 16U, 17U, 200U, 256U, 257U, 4'096U, 4'097U, 9'000U}) {
    CAPTURE(size);
    std::mt19937 random(static_cast<unsigned>(size));
    std::vector<NodeAnswer> answers(size);
    Lots order(size);
    for (unsigned& lot : order.of) lot = static_cast<unsigned>(random());
    const auto before = [&](NodeSlot a, NodeSlot b) { return order.before(a, b); };
    MaxTree tree;
    const auto best = [&] { return tree.best_except(answers, {}, order); };
    CHECK(best() == kNoSlot);
    tree.rebuild(answers, order);
    CHECK(best() == kNoSlot);
    for (int round = 0; round < 1000; ++round) {
      std::vector<NodeSlot> better;
      std::vector<NodeSlot> moved;
      const NodeSlot best_before = best();
      for (std::size_t i = 0; i < 1 + random() % 4; ++i) {
        // The best is what changes most often.
        const bool is_best = best_before != kNoSlot && random() % 2 == 0;
        const NodeSlot slot = is_best ? best_before : static_cast<NodeSlot>(random() % size);
        const NodeAnswer was = std::exchange(answers[slot], draw(random));
        if (answers[slot].is_feasible() && answers[slot].is_better_than(was))
          better.push_back(slot);
        if (random() % 8 == 0) {
          order.of[slot] = static_cast<unsigned>(random());
          moved.push_back(slot);
        }
      }
      if (!moved.empty()) tree.replay(answers, moved, order);
      // A slot that has become worse again since is not better.
      for (const NodeSlot slot : better) {
        if (answers[slot].is_feasible()) tree.raise(answers, slot, order);
      }
      const NodeSlot unsettled = best();
      tree.settle(answers, order);
      const CountedReads counted{answers};
      const NodeSlot settled = tree.best_except(counted, {}, order);

      const std::vector<NodeSlot> expected = best_of(answers);
      std::vector<NodeSlot> equals;
      if (settled != kNoSlot) {
        tree.for_each_equal(answers, answers[settled],
                            [&](NodeSlot slot) { equals.push_back(slot); });
      }
      REQUIRE(equals == expected);
      const auto first = std::min_element(expected.begin(), expected.end(), before);
      REQUIRE(settled == (first == expected.end() ? kNoSlot : *first));
      REQUIRE(counted.reads <= 1);
      REQUIRE(unsettled == settled);

      std::vector<NodeSlot> except;
      for (const NodeSlot slot : {settled, static_cast<NodeSlot>(random() % size),
                                  static_cast<NodeSlot>(random() % size)}) {
        if (slot != kNoSlot) except.push_back(slot);
      }
      std::sort(except.begin(), except.end());
      std::vector<NodeAnswer> others = answers;
      for (const NodeSlot slot : except) others[slot] = {};
      const std::vector<NodeSlot> left = best_of(others);
      const auto second = std::min_element(left.begin(), left.end(), before);
      REQUIRE(tree.best_except(answers, except, order) ==
              (second == left.end() ? kNoSlot : *second));
    }
  }
}

TEST_CASE("a tree that was never rebuilt knows what it is told one by one") {
  std::vector<NodeAnswer> answers(1'000);
  MaxTree tree;
  const Lots order(answers.size());
  const auto visited = [&](NodeAnswer answer) {
    std::vector<NodeSlot> slots;
    tree.for_each_equal(answers, answer, [&](NodeSlot slot) { slots.push_back(slot); });
    return slots;
  };
  CHECK(tree.best_except(answers, {}, order) == kNoSlot);
  CHECK(visited(NodeAnswer::feasible(1)).empty());
  for (const NodeSlot slot : {70U, 3U, 999U}) {
    answers[slot] = NodeAnswer::feasible(slot == 3 ? 2 : 1);
    tree.raise(answers, slot, order);
  }
  CHECK(tree.best_except(answers, {}, order) == 3);
  // Also one in a round that a better one has won.
  answers[4] = NodeAnswer::feasible(1);
  tree.raise(answers, 4, order);
  CHECK(visited(NodeAnswer::feasible(1)) == std::vector<NodeSlot>{4, 70, 999});
  CHECK(visited(NodeAnswer::feasible(2)) == std::vector<NodeSlot>{3});
}
