// The best of many slots' answers, kept up to date as single answers change: a tournament with wide
// rounds.
//
// Sixteen neighbouring slots are one round. The winners of sixteen rounds are one round of the next
// level, up to the best of all. What is stored as the winner of a round is at least as good as each
// of its slots, but may have become worse since. So an answer that becomes worse touches nothing,
// and one that becomes better costs one comparison in each round that it wins, and one more. Only
// where the winner of all has become worse, its rounds are played again, until the winner is one
// that still has its answer. This matters because with many shapes and many nodes no part of a tree
// is still in the cache from its last use, so each round that is touched is a wait for memory.
//
// The caller owns the answers: `answers[slot]` and `answers.size()`, of any type. Among equal
// answers the winner is the first by `order` (TieOrder): order.before(a, b) is a strict total order
// of slots, and order.hint(a) < order.hint(b) only if a is before b. When answers have changed,
// call raise() for each slot whose answer became better, replay() for the slots whose place in the
// order may have changed, and then settle(). If the hints of other slots have changed, call
// rebuild().
#pragma once

#include "scheduler/engine/finder/node_answer.h"

#include <boost/container/small_vector.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sched {

class MaxTree {
 public:
  // The best feasible slot that is not in `except` (ascending); kNoSlot if there is none. Exact
  // before settle(), too. O(size of `except` · 16 · log size) if one of them is the best, else
  // O(size of `except`).
  template <typename Answers, typename Order>
  [[nodiscard]] NodeSlot best_except(const Answers& answers, std::span<const NodeSlot> except,
                                     const Order& order) const {
    if (levels_.empty()) return kNoSlot;
    return winner_except(answers, levels_.size() - 1, 0, except, order).slot;
  }

  // The answer of the slot has become better. `answers` has the size of the last rebuild; without
  // one, all other slots count as not feasible.
  template <typename Answers, typename Order>
  void raise(const Answers& answers, NodeSlot slot, const Order& order) {
    if (levels_.empty()) make_empty(answers.size());
    if (!answers[slot].is_feasible()) return;
    const Winner now{answers[slot], slot, order.hint(slot)};
    std::size_t at = slot;
    for (const Level& level : levels_) {
      at /= kRound;
      Winner& winner = winners_[level.from + at];
      if (!beats(now, winner, order)) return;
      winner = now;
    }
  }

  // The places of these slots in the order may have changed: what is stored of them is of no use.
  // O(their number · 16 · log size).
  template <typename Answers, typename Order>
  void replay(const Answers& answers, std::vector<NodeSlot> slots, const Order& order) {
    if (levels_.empty()) return;
    std::erase_if(slots, [&](NodeSlot slot) {
      return winner(0, slot / kRound).slot != slot && !answers[slot].is_feasible();
    });
    for (std::size_t level = 0; level < levels_.size(); ++level) {
      for (NodeSlot& at : slots) at = static_cast<NodeSlot>(at / kRound);
      std::sort(slots.begin(), slots.end());
      slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
      for (const NodeSlot at : slots) play(answers, level, at, order);
    }
  }

  // Finds the best again if the one that was has become worse. O(16 · log size) for each slot that
  // was the best of its rounds and is so no longer, at most once.
  template <typename Answers, typename Order>
  void settle(const Answers& answers, const Order& order) {
    if (levels_.empty()) return;
    while (!still_has(answers, winners_.front())) {
      prefetch_rounds(winners_.front().slot, order);
      std::size_t at = winners_.front().slot;
      for (std::size_t level = 0; level < levels_.size(); ++level) {
        at /= kRound;
        play(answers, level, at, order);
      }
    }
  }

  // Call before raise() of the slot. Fetches the winner of its round.
  void prefetch(NodeSlot slot) const {
    if (levels_.empty() || slot / kRound >= levels_.front().size) return;
    __builtin_prefetch(&winner(0, slot / kRound));
  }

  // Computes all levels again, O(size).
  template <typename Answers, typename Order>
  void rebuild(const Answers& answers, const Order& order) {
    make_empty(answers.size());
    for (std::size_t level = 0; level < levels_.size(); ++level) {
      for (std::size_t at = 0; at < levels_[level].size; ++at) play(answers, level, at, order);
    }
  }

  // Calls visit(slot) for each slot with that answer, which is feasible, in the order of slots.
  // O(size / 16 + 16 · rounds won by such an answer or a better one).
  template <typename Answers, typename Visit>
  void for_each_equal(const Answers& answers, NodeAnswer answer, Visit&& visit) const {
    if (levels_.empty()) return;
    for (std::size_t at = 0; at < levels_.front().size; ++at) {
      const Winner& of_round = winner(0, at);
      if (of_round.slot == kNoSlot || answer.is_better_than(of_round.answer)) continue;
      const std::size_t to = std::min((at + 1) * kRound, answers.size());
      for (std::size_t i = at * kRound; i < to; ++i) {
        if (answers[i] == answer) visit(static_cast<NodeSlot>(i));
      }
    }
  }

  // Bytes, approximately.
  [[nodiscard]] std::size_t memory() const { return winners_.capacity() * sizeof(Winner); }

 private:
  static constexpr std::size_t kRound = 16;

  struct Winner {
    NodeAnswer answer;  // absent: no slot is feasible
    NodeSlot slot = kNoSlot;
    std::uint32_t hint = 0;  // of the slot
  };
  struct Level {
    std::size_t from = 0;  // of its winners in winners_
    std::size_t size = 0;
  };

  [[nodiscard]] const Winner& winner(std::size_t level, std::size_t at) const {
    return winners_[levels_[level].from + at];
  }

  // Levels for so many slots, none of them feasible.
  void make_empty(std::size_t size) {
    levels_.clear();
    do {
      size = std::max<std::size_t>((size + kRound - 1) / kRound, 1);
      levels_.push_back({.size = size});
    } while (size > 1);
    std::size_t from = 0;
    for (auto level = levels_.rbegin(); level != levels_.rend(); ++level) {
      level->from = from;
      from += level->size;
    }
    winners_.assign(from, {});
  }

  // What play() reads of the levels and of the order, for the rounds of the slot.
  template <typename Order>
  void prefetch_rounds(NodeSlot slot, const Order& order) const {
    order.prefetch(static_cast<NodeSlot>(slot - slot % kRound), kRound);
    constexpr std::size_t kLine = 64 / sizeof(Winner);
    std::size_t at = slot;
    for (const Level& level : levels_) {
      at /= kRound;
      const std::size_t from = at / kRound * kRound;
      const std::size_t to = std::min(from + kRound, level.size);
      for (std::size_t i = from; i < to; i += kLine) __builtin_prefetch(&winners_[level.from + i]);
    }
  }

  // Whether the stored winner is as good as it was.
  template <typename Answers>
  static bool still_has(const Answers& answers, const Winner& winner) {
    return winner.slot == kNoSlot || answers[winner.slot] == winner.answer;
  }

  template <typename Order>
  static bool beats(const Winner& a, const Winner& b, const Order& order) {
    if (a.answer != b.answer) return a.answer.is_better_than(b.answer);
    return a.slot != kNoSlot && is_before(a, b, order);
  }

  template <typename Order>
  static bool is_before(const Winner& a, const Winner& b, const Order& order) {
    return a.hint != b.hint ? a.hint < b.hint : order.before(a.slot, b.slot);
  }

  template <typename Answers, typename Order>
  void play(const Answers& answers, std::size_t level, std::size_t at, const Order& order) {
    const std::size_t from = at * kRound;
    Winner& winner = winners_[levels_[level].from + at];
    if (level == 0) {
      winner = best_of_slots(
          from, std::min(kRound, answers.size() - from),
          [&](std::size_t slot) { return answers[slot]; }, order);
    } else {
      const Level& below = levels_[level - 1];
      const std::span<const Winner> winners(winners_);
      winner =
          best_of(winners.subspan(below.from + from, std::min(kRound, below.size - from)), order);
    }
  }

  // First the highest answer, without a branch; then, among the slots that have it, the first.
  template <typename AnswerOf, typename Order>
  [[nodiscard]] static Winner best_of_slots(std::size_t from, std::size_t size,
                                            AnswerOf&& answer_of, const Order& order) {
    NodeAnswer highest;
    for (std::size_t i = from; i < from + size; ++i) {
      highest = NodeAnswer::better_of(highest, answer_of(i));
    }
    if (!highest.is_feasible()) return {};
    Winner best;
    for (std::size_t i = from; i < from + size; ++i) {
      if (answer_of(i) != highest) continue;
      const auto slot = static_cast<NodeSlot>(i);
      const Winner rival{highest, slot, order.hint(slot)};
      if (best.slot == kNoSlot || is_before(rival, best, order)) best = rival;
    }
    return best;
  }

  template <typename Order>
  [[nodiscard]] static Winner best_of(std::span<const Winner> rivals, const Order& order) {
    NodeAnswer highest;
    for (const Winner& rival : rivals) highest = NodeAnswer::better_of(highest, rival.answer);
    if (!highest.is_feasible()) return {};
    Winner best;
    for (const Winner& rival : rivals) {
      if (rival.answer != highest) continue;
      if (best.slot == kNoSlot || is_before(rival, best, order)) best = rival;
    }
    return best;
  }

  // The winner of a round without the slots in `except`. Slots of other rounds may be in `except`.
  template <typename Answers, typename Order>
  [[nodiscard]] Winner winner_except(const Answers& answers, std::size_t level, std::size_t at,
                                     std::span<const NodeSlot> except, const Order& order) const {
    const auto is_left = [&](NodeSlot slot) {
      return !std::binary_search(except.begin(), except.end(), slot);
    };
    const Winner& stored = winner(level, at);
    if (is_left(stored.slot) && still_has(answers, stored)) return stored;
    const std::size_t from = at * kRound;
    if (level == 0) {
      return best_of_slots(
          from, std::min(kRound, answers.size() - from),
          [&](std::size_t slot) {
            return is_left(static_cast<NodeSlot>(slot)) ? answers[slot] : NodeAnswer{};
          },
          order);
    }
    // What is stored of the rounds below is at least as good as what is left of them, so only the
    // best of them have to be asked.
    const std::size_t size = std::min(kRound, levels_[level - 1].size - from);
    std::array<Winner, kRound> rounds;
    std::copy_n(&winner(level - 1, from), size, rounds.begin());
    std::array<bool, kRound> asked{};
    for (;;) {
      std::size_t best = 0;
      for (std::size_t i = 1; i < size; ++i) {
        if (beats(rounds[i], rounds[best], order)) best = i;
      }
      if (asked[best] || rounds[best].slot == kNoSlot) return rounds[best];
      asked[best] = true;
      rounds[best] = winner_except(answers, level - 1, from + best, except, order);
    }
  }

  boost::container::small_vector<Level, 6> levels_;  // [0]: of slots; the last: of all
  std::vector<Winner> winners_;                      // the last level's first
};

}  // namespace sched
