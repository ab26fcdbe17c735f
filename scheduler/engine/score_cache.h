// All nodes' answers to one shape under one profile, kept until the nodes change.
//
// Per node slot there is either a total score or the id of a verdict; a tournament tree over the
// totals knows the best node, counts of the verdicts know the message. catch_up() re-checks the
// nodes that the change log names since the last time, and nothing else; everything read afterwards
// is exact for the present state.
//
// Normalised scores depend on the greatest raw value among the feasible nodes. Raw values are kept,
// and the greatest with the number of nodes that have it; only when it moves are all totals
// computed anew, O(nodes).
//
// The locality contract of plugin.h is what makes this sound: a verdict may depend on its node
// only.
#pragma once

#include "scheduler/cluster/nodes.h"
#include "scheduler/cluster/shapes.h"
#include "scheduler/engine/decision.h"
#include "scheduler/engine/max_tree.h"
#include "scheduler/engine/prepared_shape.h"
#include "scheduler/engine/verdict_counts.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sched {

class ScoreCache {
 public:
  // `nodes` and `profile` outlive the cache. The shape is kept interned.
  ScoreCache(const Nodes& nodes, const Profile& profile, ShapeRef shape,
             const PrepareContext& context);

  // Brings everything below up to date. O(changed nodes · (plugins + log nodes)).
  void catch_up();

  // How many nodes may run the pod.
  [[nodiscard]] std::size_t feasible() const { return feasible_; }
  // The node of the highest total, of several the first by name; kNoSlot: none is feasible.
  [[nodiscard]] NodeSlot best() const { return tree_.best(); }
  // Of a feasible node.
  [[nodiscard]] std::int64_t total(NodeSlot slot) const { return answers_[slot].total; }
  [[nodiscard]] std::vector<PluginScore> scores(NodeSlot slot) const;

  // Of a present node that is not feasible, and not after a rejection; null otherwise.
  [[nodiscard]] const NodeVerdict* verdict(NodeSlot slot) const;
  [[nodiscard]] const VerdictCounts& verdicts() const { return verdicts_; }

  [[nodiscard]] const PreparedShape& prepared() const { return prepared_; }

  // Grows whenever catch_up() found a changed node: what was derived before may be out of date.
  [[nodiscard]] ChangeLog::Position position() const { return position_; }
  // Bytes, roughly.
  [[nodiscard]] std::size_t memory() const;

 private:
  enum class Kind : std::uint32_t { kAbsent, kFeasible, kRefused };
  struct Answer {
    std::int64_t total = 0;  // kFeasible
    Kind kind = Kind::kAbsent;
    VerdictCounts::Id verdict = 0;  // kRefused
  };
  // A score that is normalised.
  struct Normalised {
    std::size_t index = 0;           // in prepared_.scores()
    std::vector<std::int64_t> raw;   // by slot; of feasible nodes
    std::int64_t max = 0;            // the greatest, or 0
    std::size_t at_max = 0;          // how many nodes have it; not counted while it is 0
    std::int64_t max_in_totals = 0;  // the one that the totals were computed with
  };

  void review(NodeSlot slot);
  void withdraw(NodeSlot slot);
  void admit(NodeSlot slot, const NodeView& node);
  bool extremes_moved();
  void find_max(Normalised& score) const;
  void total_up(NodeSlot slot);
  void play_touched();
  void play_all();
  [[nodiscard]] auto better() const {
    return [this](NodeSlot a, NodeSlot b) {
      if (answers_[a].total != answers_[b].total) return answers_[a].total > answers_[b].total;
      return nodes_.rank(a) < nodes_.rank(b);
    };
  }

  const Nodes& nodes_;
  ShapeRef shape_;
  PreparedShape prepared_;
  std::vector<Answer> answers_;  // by slot
  std::vector<Normalised> normalised_;
  std::vector<std::int64_t> base_;  // by slot: the total but for normalised scores
  VerdictCounts verdicts_;
  MaxTree tree_;
  std::vector<NodeSlot> touched_;  // by the present catch_up()
  std::size_t feasible_ = 0;
  ChangeLog::Position position_ = 0;
};

}  // namespace sched
