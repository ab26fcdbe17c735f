// One node's answer to a shape, in one word, because there is one per node and shape.
#pragma once

#include "scheduler/engine/finder/verdict_counts.h"

#include <cstdint>

namespace sched {

// The total score of a node that the pod may run on; or the id of the verdict of a node that
// refuses it; or absent, for a node that does not exist.
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
  // Of a feasible node; otherwise undefined.
  [[nodiscard]] constexpr std::int64_t total() const { return word_; }
  // Of a node that refuses; otherwise undefined.
  [[nodiscard]] constexpr VerdictCounts::Id verdict() const {
    return static_cast<VerdictCounts::Id>((kAbsent - 1 - word_) / 2);
  }
  // Whether the node is known to pass every filter that reads its facts alone. It holds until the
  // facts change.
  [[nodiscard]] constexpr bool facts_pass() const {
    return is_feasible() || (is_refused() && (kAbsent - 1 - word_) % 2 == 1);
  }

  // A feasible node is better the higher its total, and better than any node that is not feasible.
  // Undefined between two nodes that are not feasible.
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
