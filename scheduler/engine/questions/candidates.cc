#include "scheduler/engine/finder/measured_preferences.h"
#include "scheduler/engine/finder/tie_order.h"
#include "scheduler/engine/questions/questions.h"

#include <algorithm>
#include <span>
#include <utility>

namespace sched {
namespace {

using quota::Room;

struct Scored {
  NodeSlot node = kNoSlot;
  Room room = Room::kGuaranteed;  // by the pod's quota
  std::int64_t total = 0;
  std::vector<PluginScore> scores;  // raw until weigh()
  PlacesOfNode places;
};

Room room_on(const quota::Admission& admission, const NodeFacts& node) {
  const auto& [within, borrowing, refused_some] = admission;
  const quota::ChargeClassId on = node.charge_class;
  if (on == quota::kNoGpuClass || std::binary_search(within.begin(), within.end(), on)) {
    return Room::kGuaranteed;
  }
  const bool borrows = std::binary_search(borrowing.begin(), borrowing.end(), on);
  return borrows ? Room::kBorrowed : Room::kNone;
}

// Raw values become scores, and their weighted sum the total.
void weigh(std::span<Scored> nodes, const PreparedShape& shape, const Ruling& ruling) {
  for (std::size_t i = 0; i < shape.scores().size(); ++i) {
    const PreparedScore& plugin = shape.scores()[i];
    if (!plugin.score || nodes.empty()) continue;
    Extremes extremes{nodes.front().scores[i].score, nodes.front().scores[i].score};
    for (const Scored& node : nodes) {
      extremes.min = std::min(extremes.min, node.scores[i].score);
      extremes.max = std::max(extremes.max, node.scores[i].score);
    }
    for (Scored& node : nodes) {
      std::int64_t& score = node.scores[i].score;
      score = normalise(plugin.normalisation, score, extremes);
      node.total += score * plugin.weight;
    }
  }
  if (ruling.preferences().empty()) return;
  MeasuredPreferences preferences(ruling);
  for (const Scored& node : nodes) preferences.count(node.places, 1);
  for (const Scored& node : nodes) preferences.measure(node.places);
  for (Scored& node : nodes) {
    node.total += preferences.total(node.places);
    preferences.append_scores(node.places, node.scores);
  }
}

}  // namespace

std::vector<Candidate> Questions::candidates(const k8s::Pod& pod, std::size_t at_most,
                                             const Supposed& supposed) const {
  const Asked asked(world_, pod, supposed);
  const PreparedShape& shape = asked.shape;
  if (shape.rejection() || objection_to(pod, asked.constraints)) return {};
  const auto by_quota = judge_by_quota(asked);

  quota::ClassSets sets;
  const Trial& trial = asked.trial.nodes;
  const Ruling ruling = finder_.ruling_anew(pod, asked.profile, refused_binds_of(asked), trial);
  Where where{.ruling = &ruling, .trial = &trial};
  if (by_quota) where.scope = {&sets, sets.intern(by_quota->admission.classes())};
  const MeasuredPreferences preferences(ruling);
  std::vector<Scored> nodes;
  for (NodeSlot slot = 0; slot < world_.nodes.slots(); ++slot) {
    if (!world_.nodes.present(slot)) continue;
    if (!finder_.verdict(shape, slot, where).is_ok()) continue;
    const NodeView view = finder_.view(slot, where);
    const Room room = by_quota ? room_on(by_quota->admission, view.facts) : Room::kGuaranteed;
    Scored scored{.node = slot,
                  .room = room,
                  .total = 0,
                  .scores = {},
                  .places = preferences.places_of(view.facts)};
    for (const PreparedScore& plugin : shape.scores()) {
      scored.scores.push_back({.plugin = std::string(plugin.plugin->name()),
                               .score = plugin.score ? plugin.score->score(view) : 0,
                               .weight = plugin.weight});
    }
    nodes.push_back(std::move(scored));
  }
  // Nodes on which the pod would borrow are looked at only if no node within the guarantee has
  // room, so each group is normalised by its own extremes.
  const auto borrowed = std::stable_partition(nodes.begin(), nodes.end(), [](const Scored& node) {
    return node.room == Room::kGuaranteed;
  });
  weigh({nodes.begin(), borrowed}, shape, ruling);
  weigh({borrowed, nodes.end()}, shape, ruling);

  const TieOrder order(world_.profiles[asked.profile].tie_break, world_.nodes);
  const auto shown = nodes.begin() + static_cast<std::ptrdiff_t>(std::min(at_most, nodes.size()));
  std::partial_sort(nodes.begin(), shown, nodes.end(), [&](const Scored& a, const Scored& b) {
    if (a.room != b.room) return a.room < b.room;
    return a.total != b.total ? a.total > b.total : order.before(a.node, b.node);
  });
  std::vector<Candidate> best;
  for (auto node = nodes.begin(); node != shown; ++node) {
    best.push_back({.node = world_.nodes.name(node->node),
                    .total_score = node->total,
                    .scores = std::move(node->scores)});
  }
  return best;
}

}  // namespace sched
