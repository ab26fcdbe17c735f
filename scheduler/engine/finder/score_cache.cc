// How the answers are kept up to date; score_cache_questions.cc reads them.
#include "scheduler/engine/finder/score_cache.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace sched {

ScoreCache::ScoreCache(const Nodes& nodes, const Profile& profile, ShapeRef shape,
                       const PrepareContext& context, RuledOutNodes ruled_out)
    : nodes_(nodes),
      order_(profile.tie_break, nodes),
      seed_(profile.tie_break.seed),
      shape_(std::move(shape)),
      prepared_(profile, *shape_, context),
      ruled_out_(std::move(ruled_out)) {
  for (std::size_t i = 0; i < prepared_.scores().size(); ++i) {
    const PreparedScore& score = prepared_.scores()[i];
    if (!score.score || score.normalisation == Normalisation::kNone) continue;
    normalised_.push_back(i);
    raw_scores_read_usage_ = raw_scores_read_usage_ || score.score->reads_usage();
  }
}

void ScoreCache::catch_up(const Scope& scope) {
  if (prepared_.rejection()) {
    position_ = nodes_.changes().end();
    return;
  }
  bool splits = !by_class_ && !scope.is_all();
  by_class_ = by_class_ || splits;
  for (const auto& domains : by_domain_) domains->catch_up();
  for (Counted& each : by_amount_) {
    each.tally->catch_up();
    // A change on one node of a domain has changed the amounts of the domain's other nodes.
    const std::uint64_t crowdings = each.tally->domains()->crowdings();
    if (std::exchange(each.crowdings, crowdings) != crowdings) splits = true;
  }
  if (position_ != nodes_.changes().end()) {
    const bool has_grown = answers_.size() < nodes_.slots();
    answers_.resize(nodes_.slots());
    ruled_out_.grow(nodes_.slots());
    if (has_grown) buckets_.grow(answers_.size());
    changes_.clear();
    review_changed();
    position_ = nodes_.changes().end();
    facts_version_ = nodes_.facts_version();
    const bool is_ranked_anew =
        std::exchange(ranking_version_, nodes_.ranking_version()) != nodes_.ranking_version();
    play(has_grown || is_ranked_anew);
  }
  if (splits) split();
}

void ScoreCache::split_by(const Ruling& asked) {
  catch_up();
  bool splits = false;
  for (const std::shared_ptr<Tally>& tally : asked.counts_by_node()) {
    if (by_amount_.size() == kMostCounts || place_in_keys(*tally)) continue;
    by_amount_.push_back({.tally = tally, .crowdings = tally->domains()->crowdings()});
    splits = true;
  }
  auto labels = asked.labels();
  const std::size_t buckets = std::max<std::size_t>(buckets_.in_use(), 1);
  std::erase_if(labels, [&](const auto& domains) {
    return !place_in_keys(*domains) && buckets * (domains->size() + 1) > kMostTrees;
  });
  const auto new_ones = static_cast<std::size_t>(std::count_if(
      labels.begin(), labels.end(), [&](const auto& domains) { return !place_in_keys(*domains); }));
  if (new_ones > 0 && by_domain_.size() + new_ones > kMostLabels) {
    // Those of earlier questions go.
    const auto gone = std::erase_if(by_domain_, [&](const auto& domains) {
      return std::find(labels.begin(), labels.end(), domains) == labels.end();
    });
    splits = splits || gone > 0;
  }
  for (const std::shared_ptr<DomainIndex>& domains : labels) {
    if (by_domain_.size() == kMostLabels) break;
    if (place_in_keys(*domains)) continue;
    by_domain_.push_back(domains);
    splits = true;
  }
  if (splits && !prepared_.rejection()) split();
}

std::optional<std::size_t> ScoreCache::place_in_keys(const DomainIndex& domains) const {
  for (std::size_t i = 0; i < by_domain_.size(); ++i) {
    if (by_domain_[i].get() == &domains) return i;
  }
  return std::nullopt;
}

std::optional<std::size_t> ScoreCache::place_in_keys(const Tally& tally) const {
  for (std::size_t i = 0; i < by_amount_.size(); ++i) {
    if (by_amount_[i].tally.get() == &tally) return i;
  }
  return std::nullopt;
}

void ScoreCache::split() {
  for (NodeSlot slot = 0; slot < answers_.size(); ++slot) {
    if (!answers_[slot].is_feasible()) continue;
    buckets_.remove(slot);
    buckets_.add(slot, key_of(slot, nodes_.view(slot)));
  }
  play(true);
}

bool ScoreCache::renew(const PrepareContext& context) {
  catch_up();
  if (prepared_.rejection()) return true;
  if (!prepared_.renew(*shape_, context)) return false;
  changes_.clear();
  for (NodeSlot slot = 0; slot < answers_.size(); ++slot) {
    if (answers_[slot].is_feasible()) admit(slot, nodes_.view(slot), true);
  }
  play(changes_.size() > 0);
  return true;
}

// With many nodes and shapes each node costs some cache misses; those of a batch overlap. A node
// that is ruled out costs none, if no node's facts have changed.
void ScoreCache::review_changed() {
  const bool same_facts = facts_version_ == nodes_.facts_version();
  std::array<NodeSlot, 64> batch;
  std::size_t size = 0;
  const auto review_batch = [&] {
    const auto fetch = [&](NodeSlot slot) {
      __builtin_prefetch(&answers_[slot]);
      buckets_.prefetch(slot);
      nodes_.prefetch(slot);
    };
    // For a few nodes all waits overlap, also for what then shows that a node is ruled out.
    constexpr std::size_t kFew = 8;
    if (size <= kFew) std::for_each_n(batch.begin(), size, fetch);
    // Bits instead of branches: the processor would often guess wrong, and then wait.
    std::uint64_t open = 0;
    for (std::size_t i = 0; i < size; ++i) {
      open |= std::uint64_t{!same_facts || !ruled_out_[batch[i]]} << i;
    }
    const auto for_each_open = [&](auto&& use) {
      for (std::uint64_t left = open; left != 0; left &= left - 1) {
        use(batch[static_cast<std::size_t>(std::countr_zero(left))]);
      }
    };
    if (size > kFew) for_each_open(fetch);
    for_each_open([&](NodeSlot slot) {
      review(slot, same_facts || nodes_.facts_changed(slot) <= position_);
    });
    size = 0;
  };
  nodes_.changes().since(position_, [&](NodeSlot slot) {
    batch[size++] = slot;
    if (size == batch.size()) review_batch();
  });
  review_batch();
}

void ScoreCache::rise(NodeSlot slot, Buckets::Id bucket) {
  changes_.better.push_back({slot, bucket});
  if (bucket < trees_.size()) trees_[bucket].prefetch(slot);
}

void ScoreCache::review(NodeSlot slot, bool same_facts) {
  if (same_facts && ruled_out_[slot]) return;
  if (!same_facts) {
    ruled_out_.set(slot, false);
    changes_.new_facts.push_back(slot);
    // A node that does not exist has no usage that could change.
    if (!nodes_.present(slot)) return refuse(slot, {});
  }
  const NodeAnswer before = answers_[slot];
  const NodeView node = nodes_.view(slot);
  const bool facts_pass = same_facts && before.facts_pass();
  const NodeVerdict verdict = facts_pass   ? prepared_.check_usage_alone(node)
                              : same_facts ? prepared_.check_usage(node)
                                           : prepared_.check(node);
  if (verdict.is_ok()) return admit(slot, node, same_facts);
  if (prepared_.follows_from_facts(verdict)) ruled_out_.set(slot, true);
  if (before.is_refused() && before.facts_pass() == facts_pass &&
      verdicts_.verdict(before.verdict()) == verdict) {
    return;
  }
  refuse(slot, NodeAnswer::refused(verdicts_.add(verdict), facts_pass));
}

void ScoreCache::refuse(NodeSlot slot, NodeAnswer now) {
  const NodeAnswer before = answers_[slot];
  answers_[slot] = now;
  if (before.is_refused()) verdicts_.remove(before.verdict());
  if (!before.is_feasible()) return;
  ++changes_.worse;
  buckets_.remove(slot);
}

void ScoreCache::admit(NodeSlot slot, const NodeView& node, bool same_facts) {
  const NodeAnswer before = answers_[slot];
  const NodeAnswer now = NodeAnswer::feasible(plain_part(node));
  answers_[slot] = now;
  if (before.is_refused()) verdicts_.remove(before.verdict());
  if (!before.is_feasible()) return rise(slot, buckets_.add(slot, key_of(slot, node)));
  const Buckets::Id was = buckets_.of(slot);
  if (!same_facts || raw_scores_read_usage_ || !by_amount_.empty()) {
    const Buckets::Key key = key_of(slot, node);
    if (key != buckets_.key(was)) {
      ++changes_.worse;
      buckets_.remove(slot);
      return rise(slot, buckets_.add(slot, key));
    }
  }
  if (now.is_better_than(before)) rise(slot, was);
  if (before.is_better_than(now)) ++changes_.worse;
}

Buckets::Key ScoreCache::key_of(NodeSlot slot, const NodeView& node) const {
  Buckets::Key key{.charge_class = by_class_ ? node.facts.charge_class : quota::kNoGpuClass,
                   .domains = {},
                   .amounts = {},
                   .raw = raw_scores(node)};
  for (const auto& domains : by_domain_) key.domains.push_back(domains->of(slot));
  for (const Counted& each : by_amount_) key.amounts.push_back(each.tally->amount_at(slot));
  return key;
}

ScoreCache::RawScores ScoreCache::raw_scores(const NodeView& node) const {
  RawScores raw;
  for (const std::size_t i : normalised_) raw.push_back(prepared_.scores()[i].score->score(node));
  return raw;
}

std::int64_t ScoreCache::plain_part(const NodeView& node) const {
  std::int64_t part = 0;
  for (const PreparedScore& score : prepared_.scores()) {
    if (score.score && score.normalisation == Normalisation::kNone) {
      part += score.weight * score.score->score(node);
    }
  }
  return part;
}

void ScoreCache::play(bool all) {
  const bool had_trees = has_trees_;
  // Two thresholds, so that one bucket more or less does not switch the trees on and off.
  has_trees_ = buckets_.in_use() <= (had_trees ? kMostTrees : kMostTrees / 2);
  // A single change may cost one round per level; from a certain share of the nodes on, a rebuild
  // is cheaper.
  constexpr std::size_t kManyShare = 8;
  if (!has_trees_) {
    trees_ = {};
  } else if (all || !had_trees || changes_.size() > answers_.size() / kManyShare) {
    rebuild_trees();
  } else {
    trees_.resize(buckets_.size());
    for (Buckets::Id id = 0; id < trees_.size() && !changes_.new_facts.empty(); ++id) {
      in_tree(trees_, id, [&](MaxTree& tree, const auto& answers) {
        tree.replay(answers, changes_.new_facts, order_);
      });
    }
    for (const TreeChanges::Rise& rise : changes_.better) {
      in_tree(trees_, rise.bucket,
              [&](MaxTree& tree, const auto& answers) { tree.raise(answers, rise.slot, order_); });
    }
    for (Buckets::Id id = 0; id < trees_.size(); ++id) {
      in_tree(trees_, id,
              [&](MaxTree& tree, const auto& answers) { tree.settle(answers, order_); });
    }
  }
  // After a pass over all nodes: the next pass is over few nodes and needs much less memory.
  if (all) changes_ = {};
}

void ScoreCache::rebuild_trees() {
  trees_.resize(buckets_.size());
  for (Buckets::Id id = 0; id < trees_.size(); ++id) {
    if (buckets_.nodes(id) == 0) {
      trees_[id] = {};
      continue;
    }
    in_tree(trees_, id, [&](MaxTree& tree, const auto& answers) { tree.rebuild(answers, order_); });
  }
}

std::size_t ScoreCache::memory() const {
  std::size_t bytes = sizeof(*this) + answers_.capacity() * sizeof(NodeAnswer) +
                      changes_.better.capacity() * sizeof(TreeChanges::Rise) +
                      changes_.new_facts.capacity() * sizeof(NodeSlot) + ruled_out_.memory() +
                      buckets_.memory() + verdicts_.memory();
  for (const MaxTree& tree : trees_) bytes += tree.memory();
  return bytes;
}

}  // namespace sched
