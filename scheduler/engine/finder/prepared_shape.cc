#include "scheduler/engine/finder/prepared_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace sched {
namespace {

constexpr const char* kNoQuotaReason = "node(s) had GPUs without room in the namespace's GPU quota";

}  // namespace

PreparedShape::PreparedShape(const Profile& profile, const PodShape& shape,
                             const PrepareContext& context)
    : requests_(shape.requests) {
  for (const auto& plugin : profile.filters) {
    FilterPreparation preparation = plugin->prepare(shape, context);
    if (preparation.rejection) {
      rejection_ = {std::string(plugin->name()), std::move(*preparation.rejection)};
      return;
    }
    if (preparation.only_nodes) narrow(plugin->name(), std::move(*preparation.only_nodes));
    if (rejection_) return;
    if (preparation.filter) filters_.push_back({plugin.get(), std::move(preparation.filter)});
  }
  while (facts_filters_ < filters_.size() && !filters_[facts_filters_].filter->reads_usage()) {
    ++facts_filters_;
  }
  for (std::uint32_t i = facts_filters_; i < filters_.size(); ++i) {
    if (filters_[i].filter->reads_usage()) usage_filters_.push_back(i);
  }
  for (const WeightedScore& weighted : profile.scores) {
    scores_.push_back({.plugin = weighted.plugin.get(),
                       .weight = weighted.weight,
                       .normalisation = weighted.plugin->normalisation(),
                       .score = weighted.plugin->prepare(shape, context)});
  }
  set_weights_of_leading_scores(profile);
}

void PreparedShape::set_weights_of_leading_scores(const Profile& profile) {
  std::int64_t others = 0;
  for (const UsedConstraint& used : profile.constraints) others += used.weight * kMaxScore;
  const auto most = [](const PreparedScore& score) {
    return score.normalisation == Normalisation::kNone ? score.plugin->max_score() : kMaxScore;
  };
  for (const PreparedScore& score : scores_) {
    // Also scores that are null now: renew() may set them.
    if (!score.plugin->goes_first()) others += score.weight * most(score);
  }
  // Of several the one listed last counts least.
  for (auto score = scores_.rbegin(); score != scores_.rend(); ++score) {
    if (!score->score || !score->plugin->goes_first()) continue;
    score->weight = others + 1;
    others += score->weight * most(*score);
  }
}

bool PreparedShape::renew(const PodShape& shape, const PrepareContext& context) {
  const auto reads = [](const PreparedScore& score) { return score.plugin->reads_statistics(); };
  const bool independent =
      std::all_of(scores_.begin(), scores_.end(), [&](const PreparedScore& score) {
        return !reads(score) || score.normalisation == Normalisation::kNone;
      });
  if (!independent) return false;
  for (PreparedScore& score : scores_) {
    if (reads(score)) score.score = score.plugin->prepare(shape, context);
  }
  return true;
}

void PreparedShape::narrow(std::string_view plugin, std::vector<std::string> only_nodes) {
  narrowed_by_.emplace_back(plugin);
  std::sort(narrowed_by_.begin(), narrowed_by_.end());
  if (only_nodes_) {
    std::vector<std::string> both;
    std::set_intersection(only_nodes_->begin(), only_nodes_->end(), only_nodes.begin(),
                          only_nodes.end(), std::back_inserter(both));
    only_nodes_ = std::move(both);
  } else {
    only_nodes_ = std::move(only_nodes);
  }
  if (!only_nodes_->empty()) return;
  rejection_ = {"", fmt::format("node(s) didn't satisfy plugin(s) [{}] simultaneously",
                                fmt::join(narrowed_by_, " "))};
}

NodeVerdict PreparedShape::check(const NodeView& node) const {
  if (only_nodes_ &&
      !std::binary_search(only_nodes_->begin(), only_nodes_->end(), node.facts.name)) {
    return {Code::kUnresolvable, NodeVerdict::kNarrowed, 1};
  }
  return check_from(0, node);
}

NodeVerdict PreparedShape::check_usage(const NodeView& node) const {
  return check_from(facts_filters_, node);
}

NodeVerdict PreparedShape::check_usage_alone(const NodeView& node) const {
  for (const std::uint32_t filter : usage_filters_) {
    if (const NodeVerdict verdict = ask(filter, node); !verdict.is_ok()) return verdict;
  }
  return {};
}

NodeVerdict PreparedShape::check_from(std::uint32_t filter, const NodeView& node) const {
  for (; filter < filters_.size(); ++filter) {
    if (const NodeVerdict verdict = ask(filter, node); !verdict.is_ok()) return verdict;
  }
  return {};
}

NodeVerdict PreparedShape::ask(std::uint32_t filter, const NodeView& node) const {
  const Verdict verdict = filters_[filter].filter->check(node);
  return {verdict.code(), filter, verdict.reasons()};
}

std::optional<std::uint32_t> PreparedShape::next_refusal(const NodeView& node,
                                                         std::uint32_t filter) const {
  for (std::uint32_t later = filter + 1; later < filters_.size(); ++later) {
    if (!filters_[later].filter->check(node).is_ok()) return later;
  }
  return std::nullopt;
}

NodeRoom PreparedShape::least_room() const {
  NodeRoom least;
  for (const PreparedFilter& each : filters_) {
    for (std::size_t i = 0; i < NodeRoom::kCounted.size(); ++i) {
      least.needs(i, each.filter->least_free(NodeRoom::kCounted[i]));
    }
  }
  return least;
}

std::string_view PreparedShape::plugin_of(const NodeVerdict& verdict) const {
  if (verdict.is_ok() || verdict.filter == NodeVerdict::kNarrowed) return {};
  if (verdict.filter == NodeVerdict::kExcluded) return {};
  if (verdict.filter == NodeVerdict::kNoQuota) return kQuotaPlugin;
  return filters_[verdict.filter].plugin->name();
}

std::vector<std::string> PreparedShape::reasons_of(const NodeVerdict& verdict) const {
  std::vector<std::string> reasons;
  if (verdict.is_ok() || verdict.filter == NodeVerdict::kExcluded) return reasons;
  if (verdict.filter == NodeVerdict::kNarrowed) {
    reasons.push_back(
        fmt::format("node(s) didn't satisfy plugin(s) [{}]", fmt::join(narrowed_by_, " ")));
    return reasons;
  }
  if (verdict.filter == NodeVerdict::kNoQuota) {
    reasons.emplace_back(kNoQuotaReason);
    return reasons;
  }
  const std::vector<std::string>& all = filters_[verdict.filter].filter->reasons();
  for_each_reason(verdict.reasons, [&](unsigned index) { reasons.push_back(all[index]); });
  return reasons;
}

std::int64_t normalise(Normalisation how, std::int64_t raw, const Extremes& extremes) {
  const auto [min, max] = extremes;
  switch (how) {
    case Normalisation::kNone:
      return raw;
    case Normalisation::kMax:
      return max == 0 ? 0 : kMaxScore * raw / max;
    case Normalisation::kReversed:
      return max == 0 ? kMaxScore : kMaxScore - kMaxScore * raw / max;
    case Normalisation::kMinMax:
      return max == min ? 0 : kMaxScore * (raw - min) / (max - min);
  }
  return raw;
}

}  // namespace sched
