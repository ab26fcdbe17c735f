// The best of many slots' answers, kept up to date as single ones change: a tournament of wide
// rounds.
//
// Sixteen neighbouring slots play a round, the winners of sixteen rounds one of the next level, up
// to the best of all. A slot that neither was its round's winner nor becomes it costs one
// comparison, a winner that got better one per level; only where a winner got worse is a round
// played anew, over answers that lie side by side. So a change touches few cache lines: when many
// shapes take turns on many nodes, none of a tree is left in the cache from its last turn, and the
// log2(n) places of a binary tree would be so many waits for memory.
//
// The answers are the caller's: `answers[slot]` and `answers.size()`, whatever has these. Of equal
// ones before(a, b), a strict total order of slots, tells who wins. When the answers of several
// slots change, all are changed first and each is updated then, in any order.
#pragma once

#include "scheduler/cluster/change_log.h"
#include "scheduler/engine/finder/node_answer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace sched {

class MaxTree {
 public:
  // The best feasible slot; kNoSlot when none is.
  [[nodiscard]] NodeSlot best() const {
    return levels_.empty() ? kNoSlot : levels_.back().front().slot;
  }

  // The best feasible slot that is not one of `except` (ascending); kNoSlot when none is.
  // O(their number · 16 · log size) where one of them is the best, else O(their number).
  template <typename Answers, typename Before>
  [[nodiscard]] NodeSlot best_except(const Answers& answers, std::span<const NodeSlot> except,
                                     Before&& before) const {
    if (levels_.empty()) return kNoSlot;
    return winner_except(answers, levels_.size() - 1, 0, except, before).slot;
  }

  // The answer of the slot may have changed. `answers` has the size of
  // the last rebuild.
  template <typename Answers, typename Before>
  void update(const Answers& answers, NodeSlot slot, Before&& before) {
    NodeSlot held_by = slot;  // who stood for the changed part of the level below
    Winner now = entrant(answers, slot);
    std::size_t at = slot;
    for (std::size_t level = 0; level < levels_.size(); ++level) {
      at /= kRound;
      Winner& winner = levels_[level][at];
      const Winner was = winner;
      if (was.slot != held_by) {
        if (!beats(now, was, before)) return;
        winner = now;
      } else {
        winner = now.answer.is_better_than(was.answer) ? now : play(answers, level, at, before);
      }
      // The same winner, and not this slot: nothing further up depends on the change.
      if (winner.slot == was.slot && winner.answer == was.answer && was.slot != slot) return;
      held_by = was.slot;
      now = winner;
    }
  }

  // The same for several slots at once, where before() says something else of them than it did: a
  // winner that has lost its place among equals must not be compared with the others one by one,
  // for those between its old place and its new one would be passed over. O(their number · 16 ·
  // log size).
  template <typename Answers, typename Before>
  void replay(const Answers& answers, std::vector<NodeSlot> slots, Before&& before) {
    for (std::size_t level = 0; level < levels_.size(); ++level) {
      for (NodeSlot& at : slots) at = static_cast<NodeSlot>(at / kRound);
      std::sort(slots.begin(), slots.end());
      slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
      for (const NodeSlot at : slots) levels_[level][at] = play(answers, level, at, before);
    }
  }

  // Whether it was never made.
  [[nodiscard]] bool is_unmade() const { return levels_.empty(); }
  // Made for so many slots, none of which is feasible.
  void make_empty(std::size_t size) {
    levels_.clear();
    do {
      size = std::max<std::size_t>((size + kRound - 1) / kRound, 1);
      levels_.emplace_back(size);
    } while (size > 1);
  }

  // The slot will be updated soon.
  void prefetch(NodeSlot slot) const {
    if (!levels_.empty() && slot / kRound < levels_.front().size()) {
      __builtin_prefetch(&levels_.front()[slot / kRound]);
    }
  }

  // Everything anew, O(size).
  template <typename Answers, typename Before>
  void rebuild(const Answers& answers, Before&& before) {
    make_empty(answers.size());
    for (std::size_t level = 0; level < levels_.size(); ++level) {
      for (std::size_t at = 0; at < levels_[level].size(); ++at) {
        levels_[level][at] = play(answers, level, at, before);
      }
    }
  }

  // Calls visit(slot) for each slot of that answer, which is feasible, in the order of slots.
  // O(size / 16 + 16 · rounds that such a one, or a better one, has won).
  template <typename Answers, typename Visit>
  void for_each_equal(const Answers& answers, NodeAnswer answer, Visit&& visit) const {
    if (levels_.empty()) return;
    for (std::size_t at = 0; at < levels_.front().size(); ++at) {
      const Winner& winner = levels_.front()[at];
      if (winner.slot == kNoSlot || answer.is_better_than(winner.answer)) continue;
      const std::size_t to = std::min((at + 1) * kRound, answers.size());
      for (std::size_t i = at * kRound; i < to; ++i) {
        if (answers[i] == answer) visit(static_cast<NodeSlot>(i));
      }
    }
  }

  // Bytes, roughly.
  [[nodiscard]] std::size_t memory() const {
    std::size_t winners = 0;
    for (const std::vector<Winner>& level : levels_) winners += level.capacity();
    return winners * sizeof(Winner);
  }

 private:
  static constexpr std::size_t kRound = 16;

  struct Winner {
    NodeAnswer answer;  // absent: nobody
    NodeSlot slot = kNoSlot;
  };

  template <typename Answers>
  static Winner entrant(const Answers& answers, NodeSlot slot) {
    const NodeAnswer answer = answers[slot];
    if (!answer.is_feasible()) return {};
    return {answer, slot};
  }

  template <typename Before>
  static bool beats(const Winner& a, const Winner& b, Before& before) {
    if (a.answer != b.answer) return a.answer.is_better_than(b.answer);
    return a.slot != kNoSlot && before(a.slot, b.slot);
  }

  template <typename Answers, typename Before>
  [[nodiscard]] Winner play(const Answers& answers, std::size_t level, std::size_t at,
                            Before& before) const {
    const std::size_t from = at * kRound;
    if (level == 0) {
      const std::size_t size = std::min(kRound, answers.size() - from);
      return best_of(
          size, [&](std::size_t i) { return answers[from + i]; },
          [&](std::size_t i) { return static_cast<NodeSlot>(from + i); }, before);
    }
    const std::vector<Winner>& entrants = levels_[level - 1];
    const std::size_t size = std::min(kRound, entrants.size() - from);
    return best_of(
        size, [&](std::size_t i) { return entrants[from + i].answer; },
        [&](std::size_t i) { return entrants[from + i].slot; }, before);
  }

  // The highest answer first, without a branch; then, of those that have it, who goes before.
  template <typename AnswerOf, typename SlotOf, typename Before>
  [[nodiscard]] static Winner best_of(std::size_t size, AnswerOf&& answer_of, SlotOf&& slot_of,
                                      Before& before) {
    NodeAnswer highest;
    for (std::size_t i = 0; i < size; ++i) highest = NodeAnswer::better_of(highest, answer_of(i));
    if (!highest.is_feasible()) return {};
    Winner winner;
    for (std::size_t i = 0; i < size; ++i) {
      if (answer_of(i) != highest) continue;
      const NodeSlot slot = slot_of(i);
      if (winner.slot == kNoSlot || before(slot, winner.slot)) winner = {highest, slot};
    }
    return winner;
  }

  // The winner of a round without the slots in `except`, all of which stand below that round or
  // beyond it.
  template <typename Answers, typename Before>
  [[nodiscard]] Winner winner_except(const Answers& answers, std::size_t level, std::size_t at,
                                     std::span<const NodeSlot> except, Before& before) const {
    const Winner& winner = levels_[level][at];
    if (!std::binary_search(except.begin(), except.end(), winner.slot)) return winner;
    const std::size_t from = at * kRound;
    if (level == 0) {
      const std::size_t size = std::min(kRound, answers.size() - from);
      return best_of(
          size,
          [&](std::size_t i) {
            const auto slot = static_cast<NodeSlot>(from + i);
            return std::binary_search(except.begin(), except.end(), slot) ? NodeAnswer{}
                                                                          : answers[slot];
          },
          [&](std::size_t i) { return static_cast<NodeSlot>(from + i); }, before);
    }
    const std::size_t size = std::min(kRound, levels_[level - 1].size() - from);
    std::array<Winner, kRound> entrants;
    for (std::size_t i = 0; i < size; ++i) {
      entrants[i] = winner_except(answers, level - 1, from + i, except, before);
    }
    return best_of(
        size, [&](std::size_t i) { return entrants[i].answer; },
        [&](std::size_t i) { return entrants[i].slot; }, before);
  }

  std::vector<std::vector<Winner>> levels_;  // [0]: of slots; the last: of all
};

}  // namespace sched
