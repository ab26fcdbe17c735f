// What is read of the answers, without changing them. They are kept up to date in score_cache.cc.
#include "scheduler/engine/finder/score_cache.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace sched {

std::int64_t ScoreCache::normalised_part(const RawScores& raw,
                                         const ExtremesOfScores& extremes) const {
  std::int64_t part = 0;
  for (std::size_t i = 0; i < normalised_.size(); ++i) {
    const PreparedScore& score = prepared_.scores()[normalised_[i]];
    part += score.weight * normalise(score.normalisation, raw[i], extremes[i]);
  }
  return part;
}

std::size_t ScoreCache::feasible(const Scope& scope) const {
  if (scope.is_all()) return buckets_.nodes();
  std::vector<NodeSlot> room;
  return measure(left_by({.scope = scope}, room), {}).feasible;
}

std::vector<ScoreCache::Tried> ScoreCache::try_nodes(const Where& where) const {
  std::vector<Tried> tried;
  if (where.trial == nullptr) return tried;
  for (const NodeSlot slot : where.trial->touched()) {
    if (!nodes_.present(slot)) continue;
    if (where.ruling != nullptr && where.ruling->find(slot) != nullptr) continue;
    const NodeView node = where.trial->view(slot);
    if (!where.scope.allows(node.facts) || !prepared_.check(node).is_ok()) continue;
    tried.push_back(
        {.slot = slot, .plain = plain_part(node), .raw = raw_scores(node), .places = {}});
  }
  return tried;
}

ScoreCache::Left ScoreCache::left_by(const Where& where, std::vector<NodeSlot>& room) const {
  Left left{.buckets = buckets_,
            .scope = where.scope,
            .aside = where.aside(room),
            .only = where.only(),
            .gone = {}};
  const auto put_aside = [&](const std::vector<NodeSlot>& nodes) {
    std::vector<NodeSlot> both;
    std::set_union(left.aside.begin(), left.aside.end(), nodes.begin(), nodes.end(),
                   std::back_inserter(both));
    room = std::move(both);
    left.aside = room;
  };
  static const Ruling kNothing;
  const Ruling& ruling = where.ruling == nullptr ? kNothing : *where.ruling;
  for (const Ruling::ByDomain& out : ruling.by_domain()) {
    if (!place_in_keys(*out.domains)) put_aside(out.nodes());
  }
  for (const Ruling::ByAmount& out : ruling.by_amount()) {
    if (!place_in_keys(*out.tally)) put_aside(out.nodes());
  }
  if (left.only != nullptr) {
    for (Buckets::Id id = 0; id < buckets_.size(); ++id) left.gone.push_back(buckets_.nodes(id));
    for (const NodeSlot slot : *left.only) {
      if (takes(slot) && !std::binary_search(left.aside.begin(), left.aside.end(), slot)) {
        --left.gone[buckets_.of(slot)];
      }
    }
  } else if (!left.aside.empty() || !ruling.by_domain().empty() || !ruling.by_amount().empty()) {
    left.gone.resize(buckets_.size());
    for (const NodeSlot slot : left.aside) {
      if (takes(slot)) ++left.gone[buckets_.of(slot)];
    }
  }
  leave_out(ruling, left);
  return left;
}

void ScoreCache::leave_out(const Ruling& ruling, Left& left) const {
  const auto leave_out_by = [&](const auto& rule, std::size_t place, auto part) {
    for (Buckets::Id id = 0; id < buckets_.size(); ++id) {
      // The key of an empty bucket may have no such part.
      if (buckets_.nodes(id) == 0) continue;
      if (rule.rules_out((buckets_.key(id).*part)[place])) left.gone[id] = buckets_.nodes(id);
    }
  };
  for (const Ruling::ByDomain& out : ruling.by_domain()) {
    const auto place = place_in_keys(*out.domains);
    if (place) leave_out_by(out, *place, &Buckets::Key::domains);
  }
  for (const Ruling::ByAmount& out : ruling.by_amount()) {
    const auto place = place_in_keys(*out.tally);
    if (place) leave_out_by(out, *place, &Buckets::Key::amounts);
  }
}

Best ScoreCache::measure(const Left& left, const std::vector<Tried>& tried) const {
  Best best;
  const auto widen = [&](const RawScores& raw) {
    for (std::size_t i = 0; i < raw.size(); ++i) {
      if (best.feasible == 0) best.extremes.push_back({raw[i], raw[i]});
      best.extremes[i].min = std::min(best.extremes[i].min, raw[i]);
      best.extremes[i].max = std::max(best.extremes[i].max, raw[i]);
    }
  };
  for (Buckets::Id id = 0; id < buckets_.size(); ++id) {
    const std::size_t nodes = left[id];
    if (nodes == 0) continue;
    widen(buckets_.key(id).raw);
    best.feasible += nodes;
  }
  for (const Tried& node : tried) {
    widen(node.raw);
    ++best.feasible;
  }
  return best;
}

template <typename Visit>
void ScoreCache::for_each_left(const Left& left, Visit&& visit) const {
  auto next_aside = left.aside.begin();
  const auto visit_if_left = [&](NodeSlot slot) {
    while (next_aside != left.aside.end() && *next_aside < slot) ++next_aside;
    if (next_aside != left.aside.end() && *next_aside == slot) return;
    if (takes(slot) && left[buckets_.of(slot)] > 0) visit(slot);
  };
  if (left.only != nullptr) {
    for (const NodeSlot slot : *left.only) visit_if_left(slot);
  } else {
    for (NodeSlot slot = 0; slot < answers_.size(); ++slot) visit_if_left(slot);
  }
}

std::vector<PlacesOfNode> ScoreCache::places_of_buckets(
    const Left& left, const MeasuredPreferences& preferences) const {
  std::vector<PlacesOfNode> places(buckets_.size());
  for (const Ruling::Preference& each : preferences.all()) {
    for (std::size_t i = 0; i < each.tallies.size(); ++i) {
      if (each.tallies[i]->domains()->size() == 0) {  // no node carries the label
        for (PlacesOfNode& bucket : places) bucket.push_back({});
        continue;
      }
      const auto in_domains = place_in_keys(*each.tallies[i]->domains());
      const auto in_amounts =
          each.tried.empty() ? place_in_keys(*each.tallies[i]) : std::optional<std::size_t>{};
      if (!in_domains && !in_amounts) return {};
      for (Buckets::Id id = 0; id < buckets_.size(); ++id) {
        if (left[id] == 0) continue;
        const Buckets::Key& key = buckets_.key(id);
        if (in_domains) {
          const DomainId domain = key.domains[*in_domains];
          places[id].push_back({domain, each.amount_in(i, domain)});
        } else if (const std::int64_t amount = key.amounts[*in_amounts]; amount != kNoAmount) {
          places[id].push_back({PlaceOfNode::kEachItsOwn, amount});
        } else {
          places[id].push_back({});
        }
      }
    }
  }
  return places;
}

std::vector<std::int64_t> ScoreCache::measure_preferences(const Where& where, const Left& left,
                                                          std::vector<Tried>& tried,
                                                          Best& best) const {
  const auto measured = std::make_shared<MeasuredPreferences>(*where.ruling);
  best.preferences = measured;
  for (Tried& node : tried) node.places = measured->places_of(where.trial->view(node.slot).facts);
  const std::vector<PlacesOfNode> of_buckets = places_of_buckets(left, *measured);
  // Calls use(places, nodes) for all nodes in question, once for nodes that are alike.
  const auto for_each_kind = [&](auto&& use) {
    for (Buckets::Id id = 0; id < of_buckets.size(); ++id) {
      if (left[id] > 0) use(of_buckets[id], left[id]);
    }
    if (of_buckets.empty()) {
      for_each_left(left, [&](NodeSlot slot) { use(measured->places_of(slot), 1); });
    }
    for (const Tried& node : tried) use(node.places, 1);
  };
  for_each_kind(
      [&](const PlacesOfNode& places, std::size_t nodes) { measured->count(places, nodes); });
  for_each_kind([&](const PlacesOfNode& places, std::size_t) { measured->measure(places); });
  std::vector<std::int64_t> parts(of_buckets.size());
  for (Buckets::Id id = 0; id < parts.size(); ++id) {
    if (left[id] > 0) parts[id] = measured->total(of_buckets[id]);
  }
  return parts;
}

Best ScoreCache::best(const Where& where) const {
  if (prepared_.rejection()) return {};
  std::vector<NodeSlot> room;
  const Left left = left_by(where, room);
  std::vector<Tried> tried = try_nodes(where);
  Best best = measure(left, tried);
  const bool prefers = where.ruling != nullptr && !where.ruling->preferences().empty();
  std::vector<std::int64_t> of_buckets;  // what preferences add
  if (prefers) of_buckets = measure_preferences(where, left, tried, best);
  const bool buckets_are_alike = !prefers || !of_buckets.empty();
  const auto total_of = [&](NodeSlot slot) {
    std::int64_t total = own_total(slot, best.extremes);
    if (!of_buckets.empty()) {
      total += of_buckets[buckets_.of(slot)];
    } else if (prefers) {
      total += best.preferences->total(best.preferences->places_of(slot));
    }
    return total;
  };
  const auto gpus_of = [&](NodeSlot slot) {
    return where.trial == nullptr ? nodes_.gpus(slot)
                                  : Nodes::gpus_of(where.trial->view(slot).facts);
  };
  const auto consider = [&](NodeSlot slot, std::int64_t total) {
    if (best.node != kNoSlot && total < best.total) return;
    if (best.node != kNoSlot && total == best.total && !order_.before(slot, best.node, gpus_of)) {
      return;
    }
    best.node = slot;
    best.total = total;
  };
  if (has_trees_ && left.only == nullptr && buckets_are_alike) {
    for (Buckets::Id id = 0; id < buckets_.size(); ++id) {
      if (left[id] == 0) continue;
      const NodeSlot slot = in_tree(trees_, id, [&](const MaxTree& tree, const auto& answers) {
        return tree.best_except(answers, left.aside, order_);
      });
      consider(slot, total_of(slot));
    }
  } else {
    for_each_left(left, [&](NodeSlot slot) { consider(slot, total_of(slot)); });
  }
  for (const Tried& node : tried) {
    std::int64_t total = node.plain + normalised_part(node.raw, best.extremes);
    if (prefers) total += best.preferences->total(node.places);
    consider(node.slot, total);
  }
  return best;
}

NodeSlot ScoreCache::draw(std::uint64_t number, const Best& best, const Where& where) const {
  std::vector<NodeSlot> room;
  const Left left = left_by(where, room);
  std::vector<NodeSlot> equals;
  const auto among = [&](NodeSlot slot) {
    if (!std::binary_search(left.aside.begin(), left.aside.end(), slot)) equals.push_back(slot);
  };
  // Preferences of rules across nodes may differ within a bucket.
  if (has_trees_ && left.only == nullptr && best.preferences == nullptr) {
    for (Buckets::Id id = 0; id < buckets_.size(); ++id) {
      if (left[id] == 0) continue;
      const std::int64_t plain = best.total - normalised_part(buckets_.key(id).raw, best.extremes);
      if (plain < 0) continue;
      in_tree(trees_, id, [&](const MaxTree& tree, const auto& answers) {
        tree.for_each_equal(answers, NodeAnswer::feasible(plain), among);
      });
    }
    std::sort(equals.begin(), equals.end());
  } else {
    for_each_left(left, [&](NodeSlot slot) {
      if (total(slot, best) == best.total) equals.push_back(slot);
    });
  }
  if (equals.empty()) return kNoSlot;
  return equals[bounded(mix64(mix64(seed_) + number), equals.size())];
}

Best ScoreCache::with_second(Best best, const Where& where) const {
  std::vector<NodeSlot> room;
  Left left = left_by(where, room);
  std::vector<NodeSlot> aside(left.aside.begin(), left.aside.end());
  aside.insert(std::lower_bound(aside.begin(), aside.end(), best.node), best.node);
  left.aside = aside;
  const auto consider = [&](NodeSlot slot) {
    const std::int64_t its = total(slot, best);
    if (best.second != kNoSlot && its < best.second_total) return;
    if (best.second != kNoSlot && its == best.second_total && !order_.before(slot, best.second)) {
      return;
    }
    best.second = slot;
    best.second_total = its;
  };
  // What rules across nodes prefer may differ within a bucket.
  if (has_trees_ && left.only == nullptr && best.preferences == nullptr) {
    for (Buckets::Id id = 0; id < buckets_.size(); ++id) {
      if (left[id] == 0) continue;
      const NodeSlot slot = in_tree(trees_, id, [&](const MaxTree& tree, const auto& answers) {
        return tree.best_except(answers, left.aside, order_);
      });
      if (slot != kNoSlot) consider(slot);
    }
  } else {
    for_each_left(left, consider);
  }
  return best;
}

std::int64_t ScoreCache::total(NodeSlot slot, const Best& best) const {
  const std::int64_t own = own_total(slot, best.extremes);
  if (best.preferences == nullptr) return own;
  return own + best.preferences->total(best.preferences->places_of(slot));
}

std::vector<PluginScore> ScoreCache::scores(NodeSlot slot, const Best& best) const {
  std::vector<PluginScore> scores;
  scores.reserve(prepared_.scores().size());
  const NodeView node = nodes_.view(slot);
  const RawScores& raw = buckets_.key(buckets_.of(slot)).raw;
  std::size_t next_normalised = 0;
  for (const PreparedScore& score : prepared_.scores()) {
    std::int64_t value = 0;
    if (score.score && score.normalisation == Normalisation::kNone) {
      value = score.score->score(node);
    } else if (score.score) {
      const std::size_t i = next_normalised++;
      value = normalise(score.normalisation, raw[i], best.extremes[i]);
    }
    scores.push_back(
        {.plugin = std::string(score.plugin->name()), .score = value, .weight = score.weight});
  }
  if (best.preferences != nullptr) {
    best.preferences->append_scores(best.preferences->places_of(slot), scores);
  }
  return scores;
}

void ScoreCache::for_each_kind(const Where& where,
                               const std::function<void(NodeSlot, std::size_t)>& visit) const {
  const Ruling& ruling = *where.ruling;
  const bool buckets_are_alike =
      has_trees_ &&
      std::all_of(
          ruling.by_domain().begin(), ruling.by_domain().end(),
          [&](const Ruling::ByDomain& out) { return place_in_keys(*out.domains).has_value(); }) &&
      std::all_of(
          ruling.by_amount().begin(), ruling.by_amount().end(),
          [&](const Ruling::ByAmount& out) { return place_in_keys(*out.tally).has_value(); });
  static const std::vector<NodeSlot> kNone;
  const std::vector<NodeSlot>& touched = where.trial == nullptr ? kNone : where.trial->touched();
  const std::vector<NodeSlot> named = ruling.named();
  std::vector<NodeSlot> apart;
  std::set_union(touched.begin(), touched.end(), named.begin(), named.end(),
                 std::back_inserter(apart));
  const auto visit_alone = [&](NodeSlot slot) {
    if (!takes(slot, where.scope)) return;
    if (!std::binary_search(touched.begin(), touched.end(), slot)) visit(slot, 1);
  };
  // To leave out a node of a tree costs as much as to look at some rounds of nodes.
  constexpr std::size_t kFewShare = 64;
  if (!buckets_are_alike || apart.size() > answers_.size() / kFewShare) {
    for (NodeSlot slot = 0; slot < answers_.size(); ++slot) visit_alone(slot);
    return;
  }
  std::vector<std::size_t> left(buckets_.size());
  for (Buckets::Id id = 0; id < left.size(); ++id) {
    if (where.scope.allows(buckets_.key(id).charge_class)) left[id] = buckets_.nodes(id);
  }
  for (const NodeSlot slot : apart) {
    if (takes(slot, where.scope)) --left[buckets_.of(slot)];
    visit_alone(slot);
  }
  for (Buckets::Id id = 0; id < left.size(); ++id) {
    if (left[id] == 0) continue;
    const NodeSlot one = in_tree(trees_, id, [&](const MaxTree& tree, const auto& answers) {
      return tree.best_except(answers, apart, order_);
    });
    visit(one, left[id]);
  }
}

std::optional<NodeVerdict> ScoreCache::verdict(NodeSlot slot, const Scope& scope) const {
  if (slot >= answers_.size()) return std::nullopt;
  const NodeAnswer answer = answers_[slot];
  if (answer.is_refused()) return verdicts_.verdict(answer.verdict());
  if (answer.is_feasible() && !allows(scope, slot)) return NodeVerdict::no_quota();
  return std::nullopt;
}

std::optional<RefusedBy> ScoreCache::refused_by() const {
  if (feasible() > 0) return std::nullopt;
  RefusedBy by = RefusedBy::kFacts;
  verdicts_.for_each([&](const NodeVerdict& verdict, std::size_t) {
    if (!prepared_.refuses_by_facts(verdict)) by = RefusedBy::kUsage;
  });
  return by;
}

VerdictCounts ScoreCache::verdicts(const Scope& scope) const {
  VerdictCounts counts = verdicts_;
  counts.add(NodeVerdict::no_quota(), feasible() - feasible(scope));
  return counts;
}

}  // namespace sched
