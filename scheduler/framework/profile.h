// A profile: the plugins, weights and tie-break for the pods of one schedulerName.
#pragma once

#include "scheduler/framework/plugin.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sched {

// Which of several equally good nodes is taken. This affects packing as much as the score does.
struct TieBreak {
  enum class Order : std::uint8_t {
    kFirstNode,        // "first-node": the first by name
    kShuffledNodes,    // "shuffled-nodes": the first in an order drawn once from the seed
    kFewestGpusFirst,  // "fewest-gpus-first": of the nodes with the fewest GPUs the first by name,
                       // so that large nodes stay free for pods that need them
    kRandom,           // "random": drawn for every decision, as kube-scheduler does; spreads
  };
  Order order = Order::kFewestGpusFirst;
  std::uint64_t seed = 0;
  friend bool operator==(const TieBreak&, const TieBreak&) = default;
};

struct WeightedScore {
  std::unique_ptr<ScorePlugin> plugin;
  std::int64_t weight = 1;
};

struct UsedConstraint {
  // NOLINTNEXTLINE(google-explicit-constructor): a constraint alone is one that refuses and has no
  // score.
  UsedConstraint(std::unique_ptr<ClusterConstraint> made, bool says_no = true,
                 std::int64_t weight_of_score = 0)
      : plugin(std::move(made)), filters(says_no), weight(weight_of_score) {}
  std::unique_ptr<ClusterConstraint> plugin;
  bool filters = true;      // false: it only scores
  std::int64_t weight = 0;  // of its score; 0: it does not score
};

// Those of a profile that concern a pod (ClusterConstraint::concerns), in the profile's order.
using Constraints = std::vector<const ClusterConstraint*>;

// Preemption (engine/actions/preempt.h): by priority, as kube-scheduler's DefaultPreemption does
// it, and of pods on GPUs that other quotas have borrowed.
struct Preemption {
  // Which pods on GPUs that their quotas have borrowed may be evicted for a pod that stays within
  // the guarantee of its own. Kueue's words.
  enum class Reclaims : std::uint8_t {
    kNever,
    kLowerPriority,
    kAny,  // whatever their priority, where they have borrowed from the cohort of the pod's quota
  };

  // Whether pods without a controller may be evicted: no controller makes them anew.
  bool evicts_bare_pods = false;
  // Whether a PodDisruptionBudget may be violated where nothing else makes room.
  bool violates_budgets = false;
  Reclaims reclaims = Reclaims::kLowerPriority;
  // A pod of no lower priority is not evicted before it has run so long.
  std::chrono::seconds reclaim_min_runtime{};
  friend bool operator==(const Preemption&, const Preemption&) = default;
};

struct Profile {
  std::string scheduler_name;
  std::vector<std::unique_ptr<FilterPlugin>> filters;  // in the order they are asked
  std::vector<WeightedScore> scores;
  std::vector<UsedConstraint> constraints;
  TieBreak tie_break;
  std::optional<Preemption> preemption;  // nullopt: its pods evict none
};

// The kinds of changes that some constraint of them reads.
[[nodiscard]] inline ChangeMask changes_read(const std::vector<Profile>& profiles) {
  ChangeMask all = 0;
  for (const Profile& profile : profiles) {
    for (const UsedConstraint& used : profile.constraints) all |= used.plugin->reads();
  }
  return all;
}

// The filter of a profile that says after how many rejected pods a node is backed off; nullptr
// where the profile has none.
[[nodiscard]] inline const FilterPlugin* filter_with_rejection_limits(const Profile& profile) {
  for (const auto& filter : profile.filters) {
    if (filter->rejection_limits()) return filter.get();
  }
  return nullptr;
}

// The first of all profiles: its limits are those of every profile, because a node is backed off
// for all or for none.
[[nodiscard]] inline const FilterPlugin* filter_with_rejection_limits(
    const std::vector<Profile>& profiles) {
  for (const Profile& profile : profiles) {
    if (const FilterPlugin* filter = filter_with_rejection_limits(profile)) return filter;
  }
  return nullptr;
}

// Whether some profile preempts: only then PodDisruptionBudgets are read.
[[nodiscard]] inline bool preempts(const std::vector<Profile>& profiles) {
  return std::any_of(profiles.begin(), profiles.end(),
                     [](const Profile& profile) { return profile.preemption.has_value(); });
}

}  // namespace sched
