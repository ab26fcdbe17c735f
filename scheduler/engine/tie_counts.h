// How many nodes share the first place, so that one of them can be drawn: counts beside a MaxTree.
//
// At each inner node of the tree stands how many leaves below it are as good as its winner. Drawing
// walks from the root to a leaf and at each fork goes to either side with the odds of the counts:
// every node in first place is drawn with the same chance, in O(log n).
#pragma once

#include "scheduler/engine/max_tree.h"
#include "scheduler/framework/random.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sched {

class TieCounts {
 public:
  // The slot changed, and `tree` is up to date. equal(a, b): as good as each other. All changed
  // slots must have been updated before the next pick(), in any order.
  template <typename Equal>
  void update(const MaxTree& tree, NodeSlot slot, Equal&& equal) {
    std::size_t at = tree.capacity() + slot;
    counts_[at] = tree.winner(at) == kNoSlot ? 0 : 1;
    for (at /= 2; at > 0; at /= 2) counts_[at] = count(tree, at, equal);
  }

  // Everything anew.
  template <typename Equal>
  void rebuild(const MaxTree& tree, Equal&& equal) {
    const std::size_t leaves = tree.capacity();
    counts_.assign(2 * leaves, 0);
    for (std::size_t at = leaves; at < 2 * leaves; ++at) {
      counts_[at] = tree.winner(at) == kNoSlot ? 0 : 1;
    }
    for (std::size_t at = leaves - 1; at > 0; --at) counts_[at] = count(tree, at, equal);
  }

  // One of the best slots, drawn by `bits`; kNoSlot when no slot takes part.
  template <typename Equal>
  [[nodiscard]] NodeSlot pick(const MaxTree& tree, std::uint64_t bits, Equal&& equal) const {
    const NodeSlot best = tree.best();
    if (best == kNoSlot) return kNoSlot;
    std::uint64_t left_to_skip = bounded(bits, counts_[1]);
    std::size_t at = 1;
    while (at < tree.capacity()) {
      at *= 2;
      const NodeSlot left = tree.winner(at);
      const std::uint64_t here = left != kNoSlot && equal(left, best) ? counts_[at] : 0;
      if (left_to_skip < here) continue;
      left_to_skip -= here;
      ++at;
    }
    return tree.winner(at);
  }

  [[nodiscard]] std::size_t memory() const { return counts_.capacity() * sizeof(std::uint32_t); }

 private:
  template <typename Equal>
  [[nodiscard]] std::uint32_t count(const MaxTree& tree, std::size_t at, Equal&& equal) const {
    const NodeSlot winner = tree.winner(at);
    if (winner == kNoSlot) return 0;
    std::uint32_t sum = 0;
    for (const std::size_t child : {2 * at, 2 * at + 1}) {
      const NodeSlot challenger = tree.winner(child);
      if (challenger != kNoSlot && equal(challenger, winner)) sum += counts_[child];
    }
    return sum;
  }

  std::vector<std::uint32_t> counts_;  // indexed as MaxTree's inner nodes and leaves
};

}  // namespace sched
