// The best of many slots' answers, updated as single answers change: a tournament with wide rounds.
//
// Sixteen neighbouring slots are one round. The winners of sixteen rounds are one round of the next
// level, up to the best of all. A changed slot that neither was nor becomes the winner of its round
// costs one comparison. A winner that got better costs one comparison per level. Only if a winner
// got worse, the round is computed again, over answers that are adjacent in memory. So a change
// touches few cache lines. This matters because with many shapes and many nodes, no part of a tree
// is still in the cache from its last use, and each of the log2(n) places of a binary tree would be
// a wait for memory.
//
// The caller owns the answers: `answers[slot]` and `answers.size()`, of any type. Among equal
// answers the winner is first in before(a, b), a strict total order of slots. If the answers of
// several slots change, change all of them first, then call update() for each, in any order.
#pragma once

#include "scheduler/engine/finder/node_answer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace sched {

class MaxTree {
 public:
  // The best feasible slot; kNoSlot if there is none.
  [[nodiscard]] NodeSlot best() const {
    return levels_.empty() ? kNoSlot : levels_.back().front().slot;
  }

  // The best feasible slot that is not in `except` (ascending); kNoSlot if there is none.
  // O(size of `except` · 16 · log size) if one of them is the best, else O(size of `except`).
  template <typename Answers, typename Before>
  [[nodiscard]] NodeSlot best_except(const Answers& answers, std::span<const NodeSlot> except,
                                     Before&& before) const {
    if (levels_.empty()) return kNoSlot;
    return winner_except(answers, levels_.size() - 1, 0, except, before).slot;
  }

  // The answer of the slot may have changed. `answers` has the size of the last rebuild.
  template <typename Answers, typename Before>
  void update(const Answers& answers, NodeSlot slot, Before&& before) {
    NodeSlot held_by =
        slot;  // the winner of the changed part of the level below, before the change
    Winner now = candidate(answers, slot);
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
      // The same winner, and not this slot: no higher level depends on the change.
      if (winner.slot == was.slot && winner.answer == was.answer && was.slot != slot) return;
      held_by = was.slot;
      now = winner;
    }
  }

  // The same for several slots at once if their order by before() has changed. A winner that now
  // comes later among equals must not be compared with the others one by one, because slots between
  // its old and its new place would be missed. O(their number · 16 · log size).
  template <typename Answers, typename Before>
  void replay(const Answers& answers, std::vector<NodeSlot> slots, Before&& before) {
    for (std::size_t level = 0; level < levels_.size(); ++level) {
      for (NodeSlot& at : slots) at = static_cast<NodeSlot>(at / kRound);
      std::sort(slots.begin(), slots.end());
      slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
      for (const NodeSlot at : slots) levels_[level][at] = play(answers, level, at, before);
    }
  }

  // Whether the tree has no levels yet.
  [[nodiscard]] bool is_unmade() const { return levels_.empty(); }
  // Makes a tree for so many slots, none of them feasible.
  void make_empty(std::size_t size) {
    levels_.clear();
    do {
      size = std::max<std::size_t>((size + kRound - 1) / kRound, 1);
      levels_.emplace_back(size);
    } while (size > 1);
  }

  // Call before update() of the slot. Fetches the winner of its round, and those beside it that the
  // next level compares.
  void prefetch(NodeSlot slot) const {
    if (levels_.empty() || slot / kRound >= levels_.front().size()) return;
    const std::size_t from = slot / kRound / kRound * kRound;
    const std::size_t to = std::min(from + kRound, levels_.front().size());
    constexpr std::size_t kStep = 64 / sizeof(Winner);
    for (std::size_t i = from; i < to; i += kStep) __builtin_prefetch(&levels_.front()[i]);
  }

  // Computes all levels again, O(size).
  template <typename Answers, typename Before>
  void rebuild(const Answers& answers, Before&& before) {
    make_empty(answers.size());
    for (std::size_t level = 0; level < levels_.size(); ++level) {
      for (std::size_t at = 0; at < levels_[level].size(); ++at) {
        levels_[level][at] = play(answers, level, at, before);
      }
    }
  }

  // Calls visit(slot) for each slot with that answer, which is feasible, in the order of slots.
  // O(size / 16 + 16 · rounds won by such an answer or a better one).
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

  // Bytes, approximately.
  [[nodiscard]] std::size_t memory() const {
    std::size_t winners = 0;
    for (const std::vector<Winner>& level : levels_) winners += level.capacity();
    return winners * sizeof(Winner);
  }

 private:
  static constexpr std::size_t kRound = 16;

  struct Winner {
    NodeAnswer answer;  // absent: no slot is feasible
    NodeSlot slot = kNoSlot;
  };

  template <typename Answers>
  static Winner candidate(const Answers& answers, NodeSlot slot) {
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
    const std::vector<Winner>& candidates = levels_[level - 1];
    const std::size_t size = std::min(kRound, candidates.size() - from);
    return best_of(
        size, [&](std::size_t i) { return candidates[from + i].answer; },
        [&](std::size_t i) { return candidates[from + i].slot; }, before);
  }

  // First the highest answer, without a branch; then, among the slots that have it, the first by
  // before().
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

  // The winner of a round without the slots in `except`. Slots of other rounds may be in `except`.
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
    std::array<Winner, kRound> candidates;
    for (std::size_t i = 0; i < size; ++i) {
      candidates[i] = winner_except(answers, level - 1, from + i, except, before);
    }
    return best_of(
        size, [&](std::size_t i) { return candidates[i].answer; },
        [&](std::size_t i) { return candidates[i].slot; }, before);
  }

  std::vector<std::vector<Winner>> levels_;  // [0]: of slots; the last: of all
};

}  // namespace sched
