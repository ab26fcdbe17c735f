// All nodes' answers to one shape under one profile, kept until the nodes change.
//
// Per node slot there is either a total score or the id of a verdict; a tournament tree over the
// totals knows the best node, counts of the verdicts know the message. catch_up() re-checks the
// nodes that the change log names since the last time, and nothing else; everything read afterwards
// is exact for the present state.
//
// Normalised scores depend on the greatest (and the least) raw value among the feasible nodes. Raw
// values are kept, and the extremes with the number of nodes that have them; only when one moves
// are all totals computed anew, O(nodes).
//
// A cache may be confined to a set of charge classes: what fits on another node is then refused for
// want of quota.
//
// The locality contract of plugin.h is what makes this sound: a verdict may depend on its node
// only.
#pragma once

#include "scheduler/cluster/nodes.h"
#include "scheduler/cluster/shapes.h"
#include "scheduler/engine/decision.h"
#include "scheduler/engine/max_tree.h"
#include "scheduler/engine/prepared_shape.h"
#include "scheduler/engine/tie_counts.h"
#include "scheduler/engine/tie_order.h"
#include "scheduler/engine/verdict_counts.h"
#include "scheduler/quota/class_set.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sched {

// The charge classes that a cache is confined to. `sets` outlives whoever is.
struct Confinement {
  const quota::ClassSets* sets = nullptr;  // null: none
  quota::ClassSetId set = quota::kEveryClass;
  [[nodiscard]] bool allows(const NodeFacts& node) const {
    return set == quota::kEveryClass || sets->contains(set, node.charge_class);
  }
};

class ScoreCache {
 public:
  // `nodes` and `profile` outlive the cache. The shape is kept interned.
  ScoreCache(const Nodes& nodes, const Profile& profile, ShapeRef shape,
             const PrepareContext& context, Confinement confinement = {});

  // Brings everything below up to date. O(changed nodes · (plugins + log nodes)).
  void catch_up();

  // How many nodes may run the pod.
  [[nodiscard]] std::size_t feasible() const { return feasible_; }
  // The node of the highest total, of several the first by the profile's tie-break (by name where
  // that draws); kNoSlot: none is feasible.
  [[nodiscard]] NodeSlot best() const { return tree_.best(); }
  // Whether the tie-break draws one of the best for each decision: then draw() is to be asked.
  [[nodiscard]] bool draws() const { return order_.is_random(); }
  // One of the nodes of the highest total, the same for the same `number`.
  [[nodiscard]] NodeSlot draw(std::uint64_t number) const;
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
    std::size_t index = 0;          // in prepared_.scores()
    std::vector<std::int64_t> raw;  // by slot; of feasible nodes
    Extremes extremes;              // of feasible nodes
    Extremes in_totals;             // those that the totals were computed with
    std::size_t at_max = 0;         // how many nodes have it; 0: it is to be found anew
    std::size_t at_min = 0;
  };

  void review(NodeSlot slot);
  void withdraw(NodeSlot slot);
  void admit(NodeSlot slot, const NodeView& node);
  bool extremes_moved();
  void find_extremes(Normalised& score) const;
  void total_up(NodeSlot slot);
  void play_touched();
  void play_all();
  [[nodiscard]] auto better() const {
    return [this](NodeSlot a, NodeSlot b) {
      if (answers_[a].total != answers_[b].total) return answers_[a].total > answers_[b].total;
      return order_.before(a, b);
    };
  }
  [[nodiscard]] auto equal() const {
    return [this](NodeSlot a, NodeSlot b) { return answers_[a].total == answers_[b].total; };
  }

  const Nodes& nodes_;
  TieOrder order_;
  std::uint64_t seed_ = 0;  // of what is drawn
  ShapeRef shape_;
  PreparedShape prepared_;
  Confinement confinement_;
  std::vector<Answer> answers_;  // by slot
  std::vector<Normalised> normalised_;
  std::vector<std::int64_t> base_;  // by slot: the total but for normalised scores
  VerdictCounts verdicts_;
  MaxTree tree_;
  TieCounts ties_;                 // only where the tie-break draws
  std::vector<NodeSlot> touched_;  // by the present catch_up()
  std::size_t feasible_ = 0;
  ChangeLog::Position position_ = 0;
};

}  // namespace sched
