// What is kept of one node's answer to a shape, in one word: there is one per node and shape.
#pragma once

#include "scheduler/engine/finder/verdict_counts.h"

#include <cstdint>

namespace sched {

// The total score of a node that the pod may run on, the id of the verdict of one that refuses it,
// or nothing of a node that is not there.
class NodeAnswer {
 public:
  constexpr NodeAnswer() = default;
  // total ≥ 0.
  static constexpr NodeAnswer feasible(std::int64_t total) { return NodeAnswer(total); }
  // `facts_pass`: the node is known to pass every filter that reads its facts alone.
  static constexpr NodeAnswer refused(VerdictCounts::Id verdict, bool facts_pass) {
    return NodeAnswer(kAbsent - 1 - (std::int64_t{verdict} * 2 + (facts_pass ? 1 : 0)));
  }

  [[nodiscard]] constexpr bool is_feasible() const { return word_ >= 0; }
  [[nodiscard]] constexpr bool is_refused() const { return word_ < kAbsent; }
  // Of a feasible node. Meaningless otherwise.
  [[nodiscard]] constexpr std::int64_t total() const { return word_; }
  // Of a node that refuses. Meaningless otherwise.
  [[nodiscard]] constexpr VerdictCounts::Id verdict() const {
    return static_cast<VerdictCounts::Id>((kAbsent - 1 - word_) / 2);
  }
  // Whether the node is known to pass every filter that reads its facts alone; it holds until they
  // change.
  [[nodiscard]] constexpr bool facts_pass() const {
    return is_feasible() || (is_refused() && (kAbsent - 1 - word_) % 2 == 1);
  }

  // A feasible node is better the higher its total, and better than any that is not feasible.
  // Meaningless between two that are not.
  [[nodiscard]] constexpr bool is_better_than(NodeAnswer other) const {
    return word_ > other.word_;
  }

  static constexpr NodeAnswer better_of(NodeAnswer a, NodeAnswer b) {
    return b.is_better_than(a) ? b : a;
  }

  friend constexpr bool operator==(NodeAnswer, NodeAnswer) = default;

 private:
  static constexpr std::int64_t kAbsent = -1;
  constexpr explicit NodeAnswer(std::int64_t word) : word_(word) {}

  std::int64_t word_ = kAbsent;
};

}  // namespace sched
