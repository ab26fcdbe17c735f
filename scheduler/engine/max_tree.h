// The best of many slots, kept up to date as single slots change: a tournament tree.
//
// Each inner node holds the winner of the two below it, so a changed slot is played up to the root
// in O(log n), and the root is the best of all at any time. The tree holds slots, not values: who
// is better than whom is asked of the caller, and must be a strict total order. When the values of
// several slots change, all are changed first and each is updated then, in any order.
#pragma once

#include "scheduler/cluster/change_log.h"

#include <bit>
#include <cstddef>
#include <vector>

namespace sched {

class MaxTree {
 public:
  // The best slot; kNoSlot when no slot takes part.
  [[nodiscard]] NodeSlot best() const { return winners_.empty() ? kNoSlot : winners_[1]; }

  // The slot takes part or not, and its value may have changed. slot < size of the last rebuild.
  template <typename Better>
  void update(NodeSlot slot, bool takes_part, Better&& better) {
    std::size_t at = leaves_ + slot;
    winners_[at] = takes_part ? slot : kNoSlot;
    for (at /= 2; at > 0; at /= 2) {
      const NodeSlot before = winners_[at];
      winners_[at] = play(winners_[2 * at], winners_[2 * at + 1], better);
      // The same winner, and not this slot: nothing further up depends on the change.
      if (winners_[at] == before && before != slot) return;
    }
  }

  // Everything anew, O(size): takes_part(slot) for slots below `size`.
  template <typename TakesPart, typename Better>
  void rebuild(std::size_t size, TakesPart&& takes_part, Better&& better) {
    leaves_ = std::bit_ceil(size < 1 ? std::size_t{1} : size);
    winners_.assign(2 * leaves_, kNoSlot);
    for (NodeSlot slot = 0; slot < size; ++slot) {
      if (takes_part(slot)) winners_[leaves_ + slot] = slot;
    }
    for (std::size_t at = leaves_ - 1; at > 0; --at) {
      winners_[at] = play(winners_[2 * at], winners_[2 * at + 1], better);
    }
  }

  // Calls visit(slot) for each slot that takes part. O(their number · log n).
  template <typename Visit>
  void for_each(Visit&& visit) const {
    if (!winners_.empty()) visit_below(1, visit);
  }

  // The winner at a place of the tree: 1 is the root, n has 2n and 2n+1 below it, capacity() + slot
  // is the slot's own leaf; kNoSlot when nobody takes part there.
  [[nodiscard]] NodeSlot winner(std::size_t at) const { return winners_[at]; }

  // How many slots update() accepts.
  [[nodiscard]] std::size_t capacity() const { return leaves_; }

 private:
  template <typename Visit>
  void visit_below(std::size_t at, Visit& visit) const {
    if (winners_[at] == kNoSlot) return;
    if (at >= leaves_) return visit(winners_[at]);
    visit_below(2 * at, visit);
    visit_below(2 * at + 1, visit);
  }

  template <typename Better>
  static NodeSlot play(NodeSlot a, NodeSlot b, Better&& better) {
    if (a == kNoSlot) return b;
    if (b == kNoSlot) return a;
    return better(a, b) ? a : b;
  }

  std::size_t leaves_ = 0;
  std::vector<NodeSlot>
      winners_;  // [1] the root, [n] plays [2n] and [2n+1], leaves last; [0] unused
};

}  // namespace sched
