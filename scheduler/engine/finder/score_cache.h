// All nodes' answers to one shape under one profile, kept until the nodes change.
//
// Per node slot there is either a total score or the id of a verdict; a tournament tree over the
// totals knows the best node, counts of the verdicts know the message. catch_up() re-checks the
// nodes that the change log names since the last time, and nothing else; everything read afterwards
// is exact for the present state.
//
// A pod that comes to a node or leaves it changes what is taken there, not what the node is. So
// filters that read nothing but a node's facts are not asked again for it, and a node that refuses
// by its facts costs one look at what is kept.
//
// Normalised scores depend on the greatest (and the least) raw value among the feasible nodes. Raw
// values are kept, and counted; only when an extreme moves are the totals of all feasible nodes
// computed anew.
//
// A cache is of a scope: what fits on a node outside of it is refused for want of quota.
//
// A question about a trial, or that leaves some nodes out, is answered from what is kept of the
// nodes as they are, and from the nodes that the trial touches, which are asked anew. Nothing that
// is kept changes.
//
// The locality contract of plugin.h is what makes this sound: a verdict may depend on its node
// only.
#pragma once

#include "scheduler/cluster/nodes.h"
#include "scheduler/cluster/shapes.h"
#include "scheduler/engine/decision.h"
#include "scheduler/engine/finder/max_tree.h"
#include "scheduler/engine/finder/node_answer.h"
#include "scheduler/engine/finder/prepared_shape.h"
#include "scheduler/engine/finder/raw_scores.h"
#include "scheduler/engine/finder/scope.h"
#include "scheduler/engine/finder/tie_order.h"
#include "scheduler/engine/finder/verdict_counts.h"
#include "scheduler/engine/world/trial.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sched {

// The best node for a shape, and how many nodes take it.
struct Best {
  std::size_t feasible = 0;
  NodeSlot node = kNoSlot;  // none takes it
  std::int64_t total = 0;
  std::vector<Extremes> extremes{};  // by normalised score, over the nodes that take it
};

class ScoreCache {
 public:
  // `nodes` and `profile` outlive the cache. The shape is kept interned.
  ScoreCache(const Nodes& nodes, const Profile& profile, ShapeRef shape,
             const PrepareContext& context, Scope scope = {});

  // Brings everything below up to date. O(changed nodes · (plugins + log nodes)).
  void catch_up();

  // Takes over a new version of the statistics: scores that read them are computed anew, of the
  // nodes that may run the pod alone. False, and the cache is to be made anew, when that is not
  // enough. Caught up afterwards. O(feasible nodes · plugins + nodes).
  [[nodiscard]] bool renew(const PrepareContext& context);

  // Whether the node may run the pod.
  [[nodiscard]] bool takes(NodeSlot slot) const {
    return slot < answers_.size() && answers_[slot].is_feasible();
  }
  // How many nodes may run the pod.
  [[nodiscard]] std::size_t feasible() const { return feasible_; }
  // The node of the highest total, of several the first by the profile's tie-break (by name where
  // that draws); kNoSlot: none is feasible.
  [[nodiscard]] NodeSlot best() const { return tree_.best(); }
  // Whether the tie-break draws one of the best for each decision: then draw() is to be asked.
  [[nodiscard]] bool draws() const { return order_.is_random(); }
  // One of the nodes of the highest total, the same for the same `number`. O(their number + nodes /
  // 16).
  [[nodiscard]] NodeSlot draw(std::uint64_t number) const;
  // What best() and feasible() would be in the trial, over all nodes but `except` (ascending). A
  // tie-break that draws takes the first by name here. O(nodes that are touched or left out ·
  // plugins); O(feasible nodes) besides where an extreme of a normalised score moves.
  [[nodiscard]] Best best_in(const Trial& trial, const std::vector<NodeSlot>& except = {}) const;
  // The nodes as they are, without some: one of those that are as good as `best`, which best_in()
  // found; the same for the same `number`. O(feasible nodes).
  [[nodiscard]] NodeSlot draw(std::uint64_t number, const Best& best,
                              const std::vector<NodeSlot>& except) const;
  // Of a feasible node.
  [[nodiscard]] std::int64_t total(NodeSlot slot) const { return answers_[slot].total(); }
  [[nodiscard]] std::vector<PluginScore> scores(NodeSlot slot) const;
  // The same, measured by those extremes.
  [[nodiscard]] std::vector<PluginScore> scores(NodeSlot slot,
                                                const std::vector<Extremes>& extremes) const;

  // Of a present node that is not feasible, and not after a rejection; null otherwise.
  [[nodiscard]] const NodeVerdict* verdict(NodeSlot slot) const;
  [[nodiscard]] const VerdictCounts& verdicts() const { return verdicts_; }

  [[nodiscard]] const PreparedShape& prepared() const { return prepared_; }

  // Grows whenever catch_up() found a changed node: what was derived before may be out of date.
  [[nodiscard]] ChangeLog::Position position() const { return position_; }
  // Bytes, roughly.
  [[nodiscard]] std::size_t memory() const;

 private:
  // A score that is normalised.
  struct Normalised {
    std::size_t index = 0;  // in prepared_.scores()
    RawScores raw;          // of feasible nodes
    Extremes in_totals;     // those that the totals were computed with
  };
  // A node whose answer is not what it was, or may not be: if it is feasible now, its total still
  // lacks the normalised scores, and answers_ does not have it yet.
  struct Reviewed {
    NodeSlot slot = kNoSlot;
    NodeAnswer before;
    NodeAnswer now;
  };

  void review_changed();
  void review(NodeSlot slot, bool same_facts);
  void refuse(NodeSlot slot, NodeAnswer now);
  void admit(NodeSlot slot, const NodeView& node, bool same_facts);
  [[nodiscard]] std::int64_t normalised_part(NodeSlot slot) const;
  // The scores that are not normalised.
  [[nodiscard]] std::int64_t plain_part(const NodeView& node) const;
  // What a trial makes of a node that takes the shape there.
  struct Tried {
    NodeSlot slot = kNoSlot;
    std::int64_t total = 0;         // without normalised scores, until they are added
    std::vector<std::int64_t> raw;  // by normalised score
  };
  [[nodiscard]] std::vector<Tried> try_nodes(const Trial& trial,
                                             const std::vector<NodeSlot>& except) const;
  // The extremes over the nodes that take the shape, without those that are put aside and with
  // those that were tried; by normalised score.
  [[nodiscard]] std::vector<Extremes> extremes_with(const std::vector<NodeSlot>& aside,
                                                    const std::vector<Tried>& tried) const;
  // The best of the nodes that are not put aside, measured by those extremes.
  [[nodiscard]] Best best_without(const std::vector<NodeSlot>& aside,
                                  const std::vector<Extremes>& extremes) const;
  // The total of a feasible node, measured by those extremes.
  [[nodiscard]] std::int64_t total_by(NodeSlot slot, const std::vector<Extremes>& extremes) const;
  template <typename ExtremesOf>
  [[nodiscard]] std::vector<PluginScore> scores_by(NodeSlot slot, ExtremesOf&& extremes_of) const;
  [[nodiscard]] bool moves_totals(const Normalised& score, const Extremes& to) const;
  void follow_extremes();
  void move_totals(const Normalised& score, const Extremes& to);
  void settle();
  // After a pass over all nodes: what the next one, over a few, needs is a fraction of the room.
  void forget_pass();
  [[nodiscard]] auto before() const {
    return [this](NodeSlot a, NodeSlot b) { return order_.before(a, b); };
  }

  const Nodes& nodes_;
  TieOrder order_;
  std::uint64_t seed_ = 0;  // of what is drawn
  ShapeRef shape_;
  PreparedShape prepared_;
  Scope scope_;
  std::vector<NodeAnswer> answers_;  // by slot
  std::vector<bool> ruled_out_;      // by slot: refused for what the node is
  std::vector<Normalised> normalised_;
  VerdictCounts verdicts_;
  MaxTree tree_;
  // Of the present catch_up(); kept for their room.
  std::vector<Reviewed> reviewed_;
  std::vector<NodeSlot> to_play_;  // whose place in the tree may change
  std::size_t feasible_ = 0;
  ChangeLog::Position position_ = 0;
  std::uint64_t facts_version_ = 0;  // of the nodes, at position_
};

}  // namespace sched
