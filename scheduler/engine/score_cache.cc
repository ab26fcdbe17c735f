#include "scheduler/engine/score_cache.h"

#include <string>
#include <utility>

namespace sched {

ScoreCache::ScoreCache(const Nodes& nodes, const Profile& profile, ShapeRef shape,
                       const PrepareContext& context, Confinement confinement)
    : nodes_(nodes),
      order_(profile.tie_break, nodes),
      seed_(profile.tie_break.seed),
      shape_(std::move(shape)),
      prepared_(profile, *shape_, context),
      confinement_(confinement) {
  for (std::size_t i = 0; i < prepared_.scores().size(); ++i) {
    const PreparedScore& score = prepared_.scores()[i];
    if (score.score && score.normalisation != Normalisation::kNone) {
      normalised_.push_back(
          {.index = i, .raw = {}, .extremes = {}, .in_totals = {}, .at_max = 0, .at_min = 0});
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
  answers_.resize(nodes_.slots());
  base_.resize(normalised_.empty() ? 0 : nodes_.slots());
  for (Normalised& score : normalised_) score.raw.resize(nodes_.slots());

  touched_.clear();
  changes.since(position_, [&](NodeSlot slot) {
    review(slot);
    touched_.push_back(slot);
  });
  position_ = changes.end();

  const bool all = extremes_moved();
  // One by one each costs log n; from some share of the nodes on, all at once is cheaper.
  constexpr std::size_t kManyShare = 8;
  if (all || answers_.size() > tree_.capacity() || touched_.size() > answers_.size() / kManyShare) {
    play_all();
  } else {
    play_touched();
  }
}

void ScoreCache::review(NodeSlot slot) {
  withdraw(slot);
  if (!nodes_.present(slot)) return;
  const NodeView node = nodes_.view(slot);
  NodeVerdict verdict = prepared_.check(node);
  if (verdict.is_ok() && !confinement_.allows(node.facts)) {
    verdict = {Code::kUnschedulable, NodeVerdict::kNoQuota, 1};
  }
  if (verdict.is_ok()) {
    admit(slot, node);
  } else {
    answers_[slot] = {.total = 0, .kind = Kind::kRefused, .verdict = verdicts_.add(verdict)};
  }
}

void ScoreCache::withdraw(NodeSlot slot) {
  Answer& answer = answers_[slot];
  if (answer.kind == Kind::kRefused) verdicts_.remove(answer.verdict);
  if (answer.kind == Kind::kFeasible) {
    --feasible_;
    for (Normalised& score : normalised_) {
      if (score.at_max > 0 && score.raw[slot] == score.extremes.max) --score.at_max;
      if (score.at_min > 0 && score.raw[slot] == score.extremes.min) --score.at_min;
    }
  }
  answer = {};
}

void ScoreCache::admit(NodeSlot slot, const NodeView& node) {
  ++feasible_;
  Answer& answer = answers_[slot];
  answer.kind = Kind::kFeasible;
  for (const PreparedScore& score : prepared_.scores()) {
    if (score.score && score.normalisation == Normalisation::kNone) {
      answer.total += score.weight * score.score->score(node);
    }
  }
  if (normalised_.empty()) return;
  base_[slot] = answer.total;
  for (Normalised& score : normalised_) {
    const std::int64_t raw = prepared_.scores()[score.index].score->score(node);
    score.raw[slot] = raw;
    // Without a node that has it the extreme is an old one: it is found anew before it is used.
    if (raw > score.extremes.max) {
      score.extremes.max = raw;
      score.at_max = 1;
    } else if (raw == score.extremes.max) {
      ++score.at_max;
    }
    if (raw < score.extremes.min) {
      score.extremes.min = raw;
      score.at_min = 1;
    } else if (raw == score.extremes.min) {
      ++score.at_min;
    }
  }
}

bool ScoreCache::extremes_moved() {
  bool moved = false;
  for (Normalised& score : normalised_) {
    if (score.at_max == 0 || score.at_min == 0) find_extremes(score);
    const Normalisation how = prepared_.scores()[score.index].normalisation;
    moved |= score.extremes.max != score.in_totals.max;
    moved |= how == Normalisation::kMinMax && score.extremes.min != score.in_totals.min;
    score.in_totals = score.extremes;
  }
  return moved;
}

void ScoreCache::find_extremes(Normalised& score) const {
  score.extremes = {};
  score.at_max = score.at_min = 0;
  bool first = true;
  for (std::size_t slot = 0; slot < answers_.size(); ++slot) {
    if (answers_[slot].kind != Kind::kFeasible) continue;
    const std::int64_t raw = score.raw[slot];
    if (first || raw > score.extremes.max) score.at_max = 0;
    if (first || raw < score.extremes.min) score.at_min = 0;
    if (score.at_max == 0) score.extremes.max = raw;
    if (score.at_min == 0) score.extremes.min = raw;
    score.at_max += raw == score.extremes.max ? 1 : 0;
    score.at_min += raw == score.extremes.min ? 1 : 0;
    first = false;
  }
}

void ScoreCache::total_up(NodeSlot slot) {
  if (normalised_.empty() || answers_[slot].kind != Kind::kFeasible) return;
  std::int64_t total = base_[slot];
  for (const Normalised& score : normalised_) {
    const PreparedScore& prepared = prepared_.scores()[score.index];
    total += prepared.weight * normalise(prepared.normalisation, score.raw[slot], score.extremes);
  }
  answers_[slot].total = total;
}

void ScoreCache::play_touched() {
  // All values first: the tree compares with neighbours that may have changed as well.
  for (const NodeSlot slot : touched_) total_up(slot);
  for (const NodeSlot slot : touched_) {
    tree_.update(slot, answers_[slot].kind == Kind::kFeasible, better());
  }
  if (!draws()) return;
  for (const NodeSlot slot : touched_) ties_.update(tree_, slot, equal());
}

void ScoreCache::play_all() {
  for (NodeSlot slot = 0; slot < answers_.size(); ++slot) total_up(slot);
  tree_.rebuild(
      answers_.size(), [&](NodeSlot slot) { return answers_[slot].kind == Kind::kFeasible; },
      better());
  if (draws()) ties_.rebuild(tree_, equal());
}

NodeSlot ScoreCache::draw(std::uint64_t number) const {
  return ties_.pick(tree_, mix64(mix64(seed_) + number), equal());
}

std::vector<PluginScore> ScoreCache::scores(NodeSlot slot) const {
  std::vector<PluginScore> scores;
  scores.reserve(prepared_.scores().size());
  const NodeView node = nodes_.view(slot);
  std::size_t next_normalised = 0;
  for (const PreparedScore& score : prepared_.scores()) {
    std::int64_t value = 0;
    if (score.score && score.normalisation == Normalisation::kNone) {
      value = score.score->score(node);
    } else if (score.score) {
      const Normalised& normalised = normalised_[next_normalised++];
      value = normalise(score.normalisation, normalised.raw[slot], normalised.extremes);
    }
    scores.push_back(
        {.plugin = std::string(score.plugin->name()), .score = value, .weight = score.weight});
  }
  return scores;
}

const NodeVerdict* ScoreCache::verdict(NodeSlot slot) const {
  if (slot >= answers_.size() || answers_[slot].kind != Kind::kRefused) return nullptr;
  return &verdicts_.verdict(answers_[slot].verdict);
}

std::size_t ScoreCache::memory() const {
  std::size_t bytes = sizeof(*this) + answers_.capacity() * sizeof(Answer) +
                      base_.capacity() * sizeof(std::int64_t) +
                      touched_.capacity() * sizeof(NodeSlot) +
                      2 * tree_.capacity() * sizeof(NodeSlot) + ties_.memory();
  for (const Normalised& score : normalised_) bytes += score.raw.capacity() * sizeof(std::int64_t);
  return bytes;
}

}  // namespace sched
