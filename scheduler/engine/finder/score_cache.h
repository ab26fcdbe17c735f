// All nodes' answers to one shape under one profile, stored until the nodes change.
//
// Per node slot there is either a total score or the id of a verdict. Tournament trees over the
// totals give the best nodes, counts of the verdicts give the message. catch_up() re-checks only
// the nodes that the change log has named since the last call; everything read afterwards is exact
// for the present state.
//
// A pod that comes to a node or leaves it changes the node's usage, not its facts. So filters that
// read only facts are not asked again, and a node that refuses by its facts costs one memory
// access.
//
// Nodes that take the shape are in buckets (buckets.h). Totals are stored without the normalised
// scores, which depend on the nodes in question: a question adds those of each bucket, over the
// nodes of its scope, and compares the buckets' best nodes. Each bucket has a tree. If there are
// too many buckets, as with a score that differs from node to node, a question goes over all nodes
// instead.
//
// A question about a trial, or one that leaves nodes out, is answered from the stored answers and
// from the nodes that the trial touches, which are asked again. What is stored does not change.
//
// All this is correct because of the locality contract of plugin.h: a verdict may depend on its
// node only.
#pragma once

#include "scheduler/cluster/nodes.h"
#include "scheduler/cluster/shapes.h"
#include "scheduler/engine/decision.h"
#include "scheduler/engine/finder/buckets.h"
#include "scheduler/engine/finder/max_tree.h"
#include "scheduler/engine/finder/measured_preferences.h"
#include "scheduler/engine/finder/node_answer.h"
#include "scheduler/engine/finder/prepared_shape.h"
#include "scheduler/engine/finder/ruled_out_nodes.h"
#include "scheduler/engine/finder/tie_order.h"
#include "scheduler/engine/finder/verdict_counts.h"
#include "scheduler/engine/finder/where.h"

#include <boost/container/small_vector.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace sched {

// By normalised score: the extremes over the nodes in question that take the shape.
using ExtremesOfScores = boost::container::small_vector<Extremes, 2>;

// The best node for a shape, and how many nodes take it.
struct Best {
  std::size_t feasible = 0;
  NodeSlot node = kNoSlot;  // kNoSlot: no node takes it
  std::int64_t total = 0;
  ExtremesOfScores extremes{};
  // The preferences of rules across nodes, measured over the same nodes; null: none. Refers to the
  // ruling.
  std::shared_ptr<const MeasuredPreferences> preferences{};
  // The best of the others, measured by the same nodes; where with_second() was asked.
  NodeSlot second = kNoSlot;
  std::int64_t second_total = 0;
};

class ScoreCache {
 public:
  // With more buckets than this there are no trees.
  static constexpr std::size_t kMostTrees = 32;
  // Buckets differ in at most so many counts …
  static constexpr std::size_t kMostCounts = 4;
  // … and in the domains of at most so many labels.
  static constexpr std::size_t kMostLabels = 8;

  // `nodes` and `profile` outlive the cache. The shape stays interned.
  ScoreCache(const Nodes& nodes, const Profile& profile, ShapeRef shape,
             const PrepareContext& context, RuledOutNodes ruled_out = {});

  // Brings everything below up to date. Questions about a scope may be asked after a call with that
  // scope. O(changed nodes · (plugins + log nodes)); O(nodes) for the first scope.
  void catch_up(const Scope& scope = {});

  // From now on, questions that leave nodes out by these domains and amounts cost O(buckets), if
  // that does not make too many buckets; else as many steps as nodes are left out. Call catch_up()
  // afterwards. O(nodes) for the first ruling with a label or a count.
  void split_by(const Ruling& asked);

  // Takes over a new version of the statistics: computes the scores that read them again, only for
  // the nodes that may run the pod. False if that is not enough; then the cache must be made again.
  // Call catch_up() afterwards. O(nodes + feasible nodes · plugins).
  [[nodiscard]] bool renew(const PrepareContext& context);

  // Whether the node, as it is, may run the pod. After catch_up().
  [[nodiscard]] bool takes(NodeSlot slot, const Scope& scope = {}) const {
    return slot < answers_.size() && answers_[slot].is_feasible() && allows(scope, slot);
  }
  // How many nodes may run the pod, as they are. O(buckets).
  [[nodiscard]] std::size_t feasible(const Scope& scope = {}) const;
  // How all nodes, as they are, refuse the shape; nullopt: one takes it. O(different verdicts).
  [[nodiscard]] std::optional<RefusedBy> refused_by() const;
  // The node with the highest total; among equals the first by the profile's tie-break (by name if
  // that draws). O(buckets), or O(nodes) if there are too many buckets, and
  // O(nodes touched or left out · plugins).
  [[nodiscard]] Best best(const Where& where = {}) const;
  // Whether the tie-break draws among the best for each decision: then call draw().
  [[nodiscard]] bool draws() const { return order_.is_random(); }
  // One of the nodes that are as good as `best`, which best(where) found in the world as it is. The
  // same `number` gives the same node. O(nodes).
  [[nodiscard]] NodeSlot draw(std::uint64_t number, const Best& best,
                              const Where& where = {}) const;
  // `best`, which best(where) found in the world as it is, with the best of the other nodes. As
  // best().
  [[nodiscard]] Best with_second(Best best, const Where& where = {}) const;
  // Of a feasible node, as it is, relative to the nodes among which `best` was found.
  [[nodiscard]] std::int64_t total(NodeSlot slot, const Best& best) const;
  [[nodiscard]] std::vector<PluginScore> scores(NodeSlot slot, const Best& best) const;

  // Why the node does not take the pod; nullopt: it does, or it does not exist. Not after a
  // rejection.
  [[nodiscard]] std::optional<NodeVerdict> verdict(NodeSlot slot, const Scope& scope = {}) const;
  // Calls visit(slot, number) for the nodes that take the shape as they are, in the scope, without
  // those that the trial touches: with one node of each kind that the ruling treats alike, and how
  // many there are. There is a ruling. O(buckets + nodes that it names or the trial touches), or
  // O(nodes) if it does not treat the nodes of each bucket alike.
  void for_each_kind(const Where& where,
                     const std::function<void(NodeSlot, std::size_t)>& visit) const;
  // How many nodes gave each verdict. O(different verdicts + buckets).
  [[nodiscard]] VerdictCounts verdicts(const Scope& scope = {}) const;

  [[nodiscard]] const PreparedShape& prepared() const { return prepared_; }
  // The same, moved out of a cache that is dropped.
  [[nodiscard]] PreparedShape take_prepared() && { return std::move(prepared_); }
  [[nodiscard]] const ShapeRef& shape() const { return shape_; }

  // Grows whenever catch_up() found a changed node: what was derived before may be outdated.
  [[nodiscard]] ChangeLog::Position position() const { return position_; }
  // Bytes, approximately.
  [[nodiscard]] std::size_t memory() const;

 private:
  using RawScores = decltype(Buckets::Key::raw);
  // What has changed for the trees.
  struct TreeChanges {
    struct Rise {
      NodeSlot slot = kNoSlot;
      Buckets::Id bucket = 0;
    };
    std::vector<Rise> better;         // in the tree of that bucket
    std::size_t worse = 0;            // in the tree of any bucket
    std::vector<NodeSlot> new_facts;  // their places among equals may be others in all trees
    [[nodiscard]] std::size_t size() const { return better.size() + worse + new_facts.size(); }
    void clear() {
      better.clear();
      worse = 0;
      new_facts.clear();
    }
  };
  // The scores of a node that takes the shape in the trial.
  struct Tried {
    NodeSlot slot = kNoSlot;
    std::int64_t plain = 0;
    RawScores raw;
    PlacesOfNode places;
  };
  // The answers of one bucket's nodes; absent for the other nodes.
  struct OfBucket {
    const std::vector<NodeAnswer>& answers;
    const Buckets& buckets;
    Buckets::Id id = 0;
    [[nodiscard]] NodeAnswer operator[](std::size_t slot) const {
      return buckets.of(static_cast<NodeSlot>(slot)) == id ? answers[slot] : NodeAnswer{};
    }
    [[nodiscard]] std::size_t size() const { return answers.size(); }
  };
  // Calls use(tree, answers) with the tree of the bucket and the answers that it compares.
  template <typename Trees, typename Use>
  decltype(auto) in_tree(Trees& trees, Buckets::Id id, Use&& use) const {
    if (buckets_.is_one()) return use(trees[id], answers_);
    return use(trees[id], OfBucket{answers_, buckets_, id});
  }

  void review_changed();
  void review(NodeSlot slot, bool same_facts);
  // The slot has become better in that bucket's tree.
  void rise(NodeSlot slot, Buckets::Id bucket);
  void refuse(NodeSlot slot, NodeAnswer now);
  void admit(NodeSlot slot, const NodeView& node, bool same_facts);
  // Puts all nodes that take the shape into buckets again.
  void split();
  [[nodiscard]] Buckets::Key key_of(NodeSlot slot, const NodeView& node) const;
  // The index of the label's domain in the keys of buckets; nullopt: it is not in them.
  [[nodiscard]] std::optional<std::size_t> place_in_keys(const DomainIndex& domains) const;
  [[nodiscard]] std::optional<std::size_t> place_in_keys(const Tally& tally) const;
  [[nodiscard]] RawScores raw_scores(const NodeView& node) const;
  // The scores that are not normalised / that are.
  [[nodiscard]] std::int64_t plain_part(const NodeView& node) const;
  [[nodiscard]] std::int64_t normalised_part(const RawScores& raw,
                                             const ExtremesOfScores& extremes) const;
  void play(bool all);
  void rebuild_trees();

  [[nodiscard]] bool allows(const Scope& scope, NodeSlot slot) const {
    return scope.is_all() || scope.allows(buckets_.key(buckets_.of(slot)).charge_class);
  }
  [[nodiscard]] std::vector<Tried> try_nodes(const Where& where) const;
  // The nodes that a question leaves: nodes of the buckets in its scope, without those in `aside`.
  struct Left {
    const Buckets& buckets;
    const Scope& scope;
    std::span<const NodeSlot> aside;    // ascending
    const std::vector<NodeSlot>* only;  // only these, ascending; null: all
    // By bucket, how many nodes that take the shape are left out; empty: none.
    boost::container::small_vector<std::size_t, 8> gone;
    [[nodiscard]] std::size_t operator[](Buckets::Id id) const {
      if (!scope.is_all() && !scope.allows(buckets.key(id).charge_class)) return 0;
      return gone.empty() ? buckets.nodes(id) : buckets.nodes(id) - gone[id];
    }
  };
  // Leaves out all nodes of the buckets that are ruled out.
  void leave_out(const Ruling& ruling, Left& left) const;
  [[nodiscard]] Left left_by(const Where& where, std::vector<NodeSlot>& room) const;
  // The extremes and the number of the nodes that are left and take the shape, including those
  // tried.
  [[nodiscard]] Best measure(const Left& left, const std::vector<Tried>& tried) const;
  // The places of the nodes of each bucket that is left, for the preferences; empty if they differ
  // within a bucket.
  [[nodiscard]] std::vector<PlacesOfNode> places_of_buckets(
      const Left& left, const MeasuredPreferences& preferences) const;
  // Scores the nodes by the preferences. Returns by bucket what is added to each total; empty if
  // that differs within a bucket.
  [[nodiscard]] std::vector<std::int64_t> measure_preferences(const Where& where, const Left& left,
                                                              std::vector<Tried>& tried,
                                                              Best& best) const;
  // The total of a node as it is, without the preferences of rules across nodes.
  [[nodiscard]] std::int64_t own_total(NodeSlot slot, const ExtremesOfScores& extremes) const {
    return answers_[slot].total() + normalised_part(buckets_.key(buckets_.of(slot)).raw, extremes);
  }
  // Calls visit(slot) for the nodes that are left and take the shape, by ascending slot.
  template <typename Visit>
  void for_each_left(const Left& left, Visit&& visit) const;

  const Nodes& nodes_;
  TieOrder order_;
  std::uint64_t seed_ = 0;  // of random draws
  ShapeRef shape_;
  PreparedShape prepared_;
  std::vector<std::size_t> normalised_;  // indices in prepared_.scores()
  bool raw_scores_read_usage_ = false;
  bool by_class_ = false;                                // whether buckets differ in charge class
  std::vector<std::shared_ptr<DomainIndex>> by_domain_;  // buckets differ in these labels' domains
  // What buckets differ in by count; each domain is one node.
  struct Counted {
    std::shared_ptr<Tally> tally;
    std::uint64_t crowdings = 0;  // of its domains, when the buckets were split
  };
  std::vector<Counted> by_amount_;
  std::vector<NodeAnswer> answers_;  // by slot; totals without the normalised scores
  RuledOutNodes ruled_out_;
  Buckets buckets_;  // of the nodes that take the shape
  VerdictCounts verdicts_;
  bool has_trees_ = true;
  std::vector<MaxTree> trees_;  // by bucket
  TreeChanges changes_;         // of the present catch_up(); a member so that its memory is reused
  ChangeLog::Position position_ = 0;
  std::uint64_t facts_version_ = 0;    // of the nodes, at position_
  std::uint64_t ranking_version_ = 0;  // of the nodes, at position_
};

}  // namespace sched
