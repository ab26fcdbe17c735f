#include "scheduler/engine/world/world.h"

#include "scheduler/engine/sentences.h"

#include <algorithm>
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

PodRecord* World::assumed(const std::string& uid, const std::string& node) {
  PodRecord* record = pods.find(uid);
  if (record == nullptr || record->state() != PodRecord::State::kAssumed) return nullptr;
  return nodes.name(record->placement()->node()) == node ? record : nullptr;
}

std::optional<Objection> World::objection_to(const k8s::Pod& pod, std::size_t profile) const {
  for (const auto& constraint : profiles[profile].constraints) {
    if (!constraint.filters) continue;
    if (auto reason = constraint.plugin->refuses(pod)) {
      return Objection{constraint.plugin.get(), std::move(*reason)};
    }
  }
  return std::nullopt;
}

std::string World::notes(std::size_t profile, const k8s::Pod& pod) const {
  std::string all;
  for (const auto& constraint : profiles[profile].constraints) {
    if (constraint.filters) all = joined(std::move(all), constraint.plugin->note(pod));
  }
  return all;
}

bool World::tell_constraints(const ClusterChange& change) {
  bool lifts_some = false;
  for (const Profile& profile : profiles) {
    for (const auto& constraint : profile.constraints) {
      lifts_some = constraint.plugin->apply(change) || lifts_some;
    }
  }
  return lifts_some;
}

}  // namespace sched
