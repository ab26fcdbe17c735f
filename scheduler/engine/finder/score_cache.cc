#include "scheduler/engine/finder/score_cache.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <utility>

namespace sched {

ScoreCache::ScoreCache(const Nodes& nodes, const Profile& profile, ShapeRef shape,
                       const PrepareContext& context, Scope scope)
    : nodes_(nodes),
      order_(profile.tie_break, nodes),
      seed_(profile.tie_break.seed),
      shape_(std::move(shape)),
      prepared_(profile, *shape_, context),
      scope_(scope) {
  for (std::size_t i = 0; i < prepared_.scores().size(); ++i) {
    const PreparedScore& score = prepared_.scores()[i];
    if (score.score && score.normalisation != Normalisation::kNone) {
      normalised_.push_back({.index = i, .raw = {}, .in_totals = {}});
    }
  }
}

void ScoreCache::catch_up() {
  const ChangeLog& changes = nodes_.changes();
  if (position_ == changes.end()) return;
  if (prepared_.rejection()) {
    position_ = changes.end();
    return;
  }
  const bool has_grown = answers_.size() < nodes_.slots();
  answers_.resize(nodes_.slots());
  ruled_out_.resize(nodes_.slots());
  reviewed_.clear();
  to_play_.clear();
  review_changed();
  position_ = changes.end();
  const bool places_moved = order_.reads_facts() && facts_version_ != nodes_.facts_version();
  facts_version_ = nodes_.facts_version();

  follow_extremes();
  settle();
  // One by one each may cost a round per level; from some share of the nodes on, all at once is
  // cheaper.
  constexpr std::size_t kManyShare = 8;
  if (has_grown || to_play_.size() > answers_.size() / kManyShare) {
    tree_.rebuild(answers_, before());
    if (has_grown) forget_pass();
    return;
  }
  if (places_moved) return tree_.replay(answers_, to_play_, before());
  for (const NodeSlot slot : to_play_) tree_.update(answers_, slot, before());
}

bool ScoreCache::renew(const PrepareContext& context) {
  catch_up();
  if (prepared_.rejection()) return true;
  if (!prepared_.renew(*shape_, context)) return false;
  reviewed_.clear();
  to_play_.clear();
  tree_.for_each(answers_, [&](NodeSlot slot) { admit(slot, nodes_.view(slot), true); });
  settle();
  if (!to_play_.empty()) tree_.rebuild(answers_, before());
  forget_pass();
  return true;
}

void ScoreCache::forget_pass() {
  reviewed_ = {};
  to_play_ = {};
}

// With many nodes and shapes each node costs some looks at memory; those of a batch go side by
// side. A node that is ruled out costs none, as long as no node became another.
void ScoreCache::review_changed() {
  const bool same_facts = facts_version_ == nodes_.facts_version();
  std::array<NodeSlot, 32> batch;
  std::size_t size = 0;
  const auto review_batch = [&] {
    for (std::size_t i = 0; i < size; ++i) {
      review(batch[i], same_facts || nodes_.facts_changed(batch[i]) <= position_);
    }
    size = 0;
  };
  nodes_.changes().since(position_, [&](NodeSlot slot) {
    if (same_facts && ruled_out_[slot]) return;
    __builtin_prefetch(&answers_[slot]);
    tree_.prefetch(slot);
    nodes_.prefetch(slot);
    batch[size++] = slot;
    if (size == batch.size()) review_batch();
  });
  review_batch();
}

void ScoreCache::review(NodeSlot slot, bool same_facts) {
  if (same_facts && ruled_out_[slot]) return;
  const NodeAnswer before = answers_[slot];
  ruled_out_[slot] = false;
  // One that is not there has no usage that could change.
  if (!same_facts && !nodes_.present(slot)) return refuse(slot, {});
  const NodeView node = nodes_.view(slot);
  const bool facts_pass = same_facts && before.facts_pass();
  NodeVerdict verdict = facts_pass   ? prepared_.check_usage_alone(node)
                        : same_facts ? prepared_.check_usage(node)
                                     : prepared_.check(node);
  if (verdict.is_ok() && !scope_.allows(node.facts)) verdict = NodeVerdict::no_quota();
  if (verdict.is_ok()) return admit(slot, node, same_facts);
  ruled_out_[slot] = prepared_.follows_from_facts(verdict);
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
  --feasible_;
  for (Normalised& score : normalised_) score.raw.remove(slot);
  to_play_.push_back(slot);
}

void ScoreCache::admit(NodeSlot slot, const NodeView& node, bool same_facts) {
  const NodeAnswer before = answers_[slot];
  if (before.is_refused()) verdicts_.remove(before.verdict());
  if (!before.is_feasible()) ++feasible_;
  const std::int64_t total = plain_part(node);
  for (Normalised& normalised : normalised_) {
    const NodeScore& score = *prepared_.scores()[normalised.index].score;
    if (before.is_feasible()) {
      if (same_facts && !score.reads_usage()) continue;
      normalised.raw.remove(slot);
    }
    normalised.raw.add(slot, score.score(node), answers_.size());
  }
  reviewed_.push_back({slot, before, NodeAnswer::feasible(total)});
  // Of equals the facts may decide.
  if (!same_facts) to_play_.push_back(slot);
  answers_[slot] = {};
}

std::int64_t ScoreCache::normalised_part(NodeSlot slot) const {
  std::int64_t part = 0;
  for (const Normalised& score : normalised_) {
    const PreparedScore& prepared = prepared_.scores()[score.index];
    part +=
        prepared.weight * normalise(prepared.normalisation, score.raw.of(slot), score.in_totals);
  }
  return part;
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

bool ScoreCache::moves_totals(const Normalised& score, const Extremes& to) const {
  const bool reads_min = prepared_.scores()[score.index].normalisation == Normalisation::kMinMax;
  return to.max != score.in_totals.max || (reads_min && to.min != score.in_totals.min);
}

void ScoreCache::follow_extremes() {
  for (Normalised& score : normalised_) {
    const Extremes now = score.raw.extremes();
    if (moves_totals(score, now)) move_totals(score, now);
    score.in_totals = now;
  }
}

void ScoreCache::move_totals(const Normalised& score, const Extremes& to) {
  const PreparedScore& prepared = prepared_.scores()[score.index];
  const auto part = [&](NodeSlot slot, const Extremes& extremes) {
    return prepared.weight * normalise(prepared.normalisation, score.raw.of(slot), extremes);
  };
  tree_.for_each(answers_, [&](NodeSlot slot) {
    NodeAnswer& answer = answers_[slot];
    const std::int64_t moved = part(slot, to) - part(slot, score.in_totals);
    if (moved == 0) return;
    answer = NodeAnswer::feasible(answer.total() + moved);
    to_play_.push_back(slot);
  });
}

void ScoreCache::settle() {
  for (const Reviewed& node : reviewed_) {
    NodeAnswer& answer = answers_[node.slot];
    answer = NodeAnswer::feasible(node.now.total() + normalised_part(node.slot));
    if (answer != node.before) to_play_.push_back(node.slot);
  }
}

NodeSlot ScoreCache::draw(std::uint64_t number) const {
  std::size_t equals = 0;
  tree_.for_each_best(answers_, [&](NodeSlot) { ++equals; });
  if (equals == 0) return kNoSlot;
  std::uint64_t left_to_skip = bounded(mix64(mix64(seed_) + number), equals);
  NodeSlot drawn = kNoSlot;
  tree_.for_each_best(answers_, [&](NodeSlot slot) {
    if (left_to_skip-- == 0) drawn = slot;
  });
  return drawn;
}

std::vector<ScoreCache::Tried> ScoreCache::try_nodes(const Trial& trial,
                                                     const std::vector<NodeSlot>& except) const {
  std::vector<Tried> tried;
  for (const NodeSlot slot : trial.touched()) {
    if (!nodes_.present(slot) || std::binary_search(except.begin(), except.end(), slot)) continue;
    const NodeView node = trial.view(slot);
    if (!scope_.allows(node.facts) || !prepared_.check(node).is_ok()) continue;
    Tried& fits = tried.emplace_back(Tried{.slot = slot, .total = plain_part(node), .raw = {}});
    for (const Normalised& score : normalised_) {
      fits.raw.push_back(prepared_.scores()[score.index].score->score(node));
    }
  }
  return tried;
}

std::vector<Extremes> ScoreCache::extremes_with(const std::vector<NodeSlot>& aside,
                                                const std::vector<Tried>& tried) const {
  std::vector<Extremes> all;
  for (std::size_t i = 0; i < normalised_.size(); ++i) {
    const RawScores& raw = normalised_[i].raw;
    std::vector<std::int64_t> gone;
    for (const NodeSlot slot : aside) {
      if (takes(slot)) gone.push_back(raw.of(slot));
    }
    std::vector<std::int64_t> come;
    for (const Tried& node : tried) come.push_back(node.raw[i]);
    all.push_back(raw.extremes_with(std::move(gone), come));
  }
  return all;
}

std::int64_t ScoreCache::total_by(NodeSlot slot, const std::vector<Extremes>& extremes) const {
  std::int64_t sum = total(slot);
  for (std::size_t i = 0; i < normalised_.size(); ++i) {
    const Normalised& score = normalised_[i];
    const PreparedScore& prepared = prepared_.scores()[score.index];
    const std::int64_t raw = score.raw.of(slot);
    sum += prepared.weight * (normalise(prepared.normalisation, raw, extremes[i]) -
                              normalise(prepared.normalisation, raw, score.in_totals));
  }
  return sum;
}

Best ScoreCache::best_without(const std::vector<NodeSlot>& aside,
                              const std::vector<Extremes>& extremes) const {
  bool moved = false;
  for (std::size_t i = 0; i < normalised_.size(); ++i) {
    moved = moved || moves_totals(normalised_[i], extremes[i]);
  }
  Best best;
  if (!moved) {
    best.node = tree_.best_except(answers_, aside, before());
    if (best.node != kNoSlot) best.total = total(best.node);
    return best;
  }
  tree_.for_each(answers_, [&](NodeSlot slot) {
    if (std::binary_search(aside.begin(), aside.end(), slot)) return;
    const std::int64_t now = total_by(slot, extremes);
    if (best.node == kNoSlot || now > best.total ||
        (now == best.total && order_.before(slot, best.node))) {
      best.node = slot;
      best.total = now;
    }
  });
  return best;
}

Best ScoreCache::best_in(const Trial& trial, const std::vector<NodeSlot>& except) const {
  if (prepared_.rejection()) return {};
  std::vector<NodeSlot> aside;
  std::set_union(trial.touched().begin(), trial.touched().end(), except.begin(), except.end(),
                 std::back_inserter(aside));
  std::vector<Tried> tried = try_nodes(trial, except);
  std::vector<Extremes> extremes = extremes_with(aside, tried);
  Best best = best_without(aside, extremes);
  best.feasible = feasible_ + tried.size();
  for (const NodeSlot slot : aside) {
    if (takes(slot)) --best.feasible;
  }
  for (Tried& node : tried) {
    for (std::size_t i = 0; i < normalised_.size(); ++i) {
      const PreparedScore& prepared = prepared_.scores()[normalised_[i].index];
      node.total += prepared.weight * normalise(prepared.normalisation, node.raw[i], extremes[i]);
    }
    if (best.node == kNoSlot || node.total > best.total ||
        (node.total == best.total && order_.before(node.slot, best.node))) {
      best.node = node.slot;
      best.total = node.total;
    }
  }
  best.extremes = std::move(extremes);
  return best;
}

NodeSlot ScoreCache::draw(std::uint64_t number, const Best& best,
                          const std::vector<NodeSlot>& except) const {
  std::vector<NodeSlot> equals;
  tree_.for_each(answers_, [&](NodeSlot slot) {
    if (std::binary_search(except.begin(), except.end(), slot)) return;
    if (total_by(slot, best.extremes) == best.total) equals.push_back(slot);
  });
  if (equals.empty()) return kNoSlot;
  return equals[bounded(mix64(mix64(seed_) + number), equals.size())];
}

std::vector<PluginScore> ScoreCache::scores(NodeSlot slot) const {
  return scores_by(slot, [this](std::size_t i) { return normalised_[i].in_totals; });
}

std::vector<PluginScore> ScoreCache::scores(NodeSlot slot,
                                            const std::vector<Extremes>& extremes) const {
  return scores_by(slot, [&](std::size_t i) { return extremes[i]; });
}

template <typename ExtremesOf>
std::vector<PluginScore> ScoreCache::scores_by(NodeSlot slot, ExtremesOf&& extremes_of) const {
  std::vector<PluginScore> scores;
  scores.reserve(prepared_.scores().size());
  const NodeView node = nodes_.view(slot);
  std::size_t next_normalised = 0;
  for (const PreparedScore& score : prepared_.scores()) {
    std::int64_t value = 0;
    if (score.score && score.normalisation == Normalisation::kNone) {
      value = score.score->score(node);
    } else if (score.score) {
      const std::size_t i = next_normalised++;
      value = normalise(score.normalisation, normalised_[i].raw.of(slot), extremes_of(i));
    }
    scores.push_back(
        {.plugin = std::string(score.plugin->name()), .score = value, .weight = score.weight});
  }
  return scores;
}

const NodeVerdict* ScoreCache::verdict(NodeSlot slot) const {
  if (slot >= answers_.size() || !answers_[slot].is_refused()) return nullptr;
  return &verdicts_.verdict(answers_[slot].verdict());
}

std::size_t ScoreCache::memory() const {
  std::size_t bytes = sizeof(*this) + answers_.capacity() * sizeof(NodeAnswer) +
                      reviewed_.capacity() * sizeof(Reviewed) +
                      to_play_.capacity() * sizeof(NodeSlot) + ruled_out_.capacity() / 8 +
                      tree_.memory();
  for (const Normalised& score : normalised_) bytes += score.raw.memory();
  return bytes;
}

}  // namespace sched
