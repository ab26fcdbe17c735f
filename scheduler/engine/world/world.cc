#include "scheduler/engine/world/world.h"

#include "scheduler/engine/sentences.h"

#include <algorithm>
#include <set>
#include <utility>

namespace sched {

World::World(std::vector<Profile> profiles_of_it, EngineOptions options_of_it)
    : profiles(std::move(profiles_of_it)),
      options(std::move(options_of_it)),
      ledger(options.quota),
      statistics(options.typical_pods, options.gpu_devices) {}

std::optional<std::size_t> World::profile_of(std::string_view scheduler_name) const {
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    if (profiles[i].scheduler_name == scheduler_name) return i;
  }
  return std::nullopt;
}

bool World::owns(const NodeFacts& node) const {
  return std::any_of(profiles.begin(), profiles.end(), [&](const Profile& profile) {
    return std::any_of(profile.filters.begin(), profile.filters.end(),
                       [&](const auto& filter) { return filter->owns(node); });
  });
}

quota::Demand World::demand_of(std::size_t profile, const PodShape& shape,
                               const ResourceNames& resource_names) const {
  quota::Demand demand = quota::demand_of(shape.requests, resource_names);
  if (demand.is_none()) return demand;
  const auto& filters = profiles[profile].filters;
  const bool enforces_types = std::any_of(filters.begin(), filters.end(), [](const auto& filter) {
    return filter->enforces_gpu_types();
  });
  demand.allowed = quota::choice_of(shape, enforces_types);
  return demand;
}

void World::charge(PodRecord& record, const k8s::Pod& pod, quota::Demand demand,
                   const std::string& charged_as) {
  demand.allowed = {};  // it is where it is
  record.charge(ledger,
                {.uid = pod.metadata.uid,
                 .namespace_ = pod.metadata.namespace_,
                 .charged_as = charged_as,
                 .created = pod.metadata.creation_timestamp.value_or(Time{})},
                std::move(demand));
}

std::optional<Objection> World::objection_to(const k8s::Pod& pod, std::size_t profile) const {
  for (const auto& constraint : profiles[profile].constraints) {
    if (auto reason = constraint->refuses(pod)) {
      return Objection{constraint.get(), std::move(*reason)};
    }
  }
  return std::nullopt;
}

Excluded World::excluded_for(const k8s::Pod& pod, std::size_t profile,
                             const RefusedBinds& refused) const {
  Excluded all;
  for (const auto& constraint : profiles[profile].constraints) {
    for (const Exclusion& exclusion : constraint->excludes(pod)) {
      std::vector<NodeSlot> out;
      // Many domains may be one: a zone with many nodes that have such pods.
      std::set<std::pair<std::string_view, NodeSlot>> seen;  // key, first node
      for (const Exclusion::Domain& domain : exclusion.domains) {
        const std::vector<NodeSlot>& like = domains_.nodes_like(domain.key, domain.node);
        if (like.empty() || !seen.emplace(domain.key, like.front()).second) continue;
        out.insert(out.end(), like.begin(), like.end());
      }
      std::optional<std::vector<NodeSlot>> only;
      if (exclusion.only != nullptr) only = domains_.nodes_matching(*exclusion.only);
      all.add({exclusion.plugin, exclusion.reason, exclusion.code}, std::move(out),
              std::move(only));
      all.wakes_on |= constraint->wakes_on();
    }
  }
  std::vector<NodeSlot> out;
  for (const std::string& name : refused.left_out()) {
    const NodeSlot slot = nodes.find(name);
    if (slot != kNoSlot) out.push_back(slot);
  }
  // kube-scheduler's name of what binds.
  if (!out.empty()) {
    all.add({"DefaultBinder", "node(s) were left out after the pod's binding was refused there"},
            std::move(out), std::nullopt);
  }
  return all;
}

std::string World::notes(std::size_t profile, const k8s::Pod& pod) const {
  std::string all;
  for (const auto& constraint : profiles[profile].constraints) {
    all = joined(std::move(all), constraint->note(pod));
  }
  return all;
}

bool World::tell_constraints(const ClusterChange& change) {
  bool lifts_some = false;
  for (const Profile& profile : profiles) {
    for (const auto& constraint : profile.constraints) {
      lifts_some = constraint->apply(change) || lifts_some;
    }
  }
  return lifts_some;
}

}  // namespace sched
