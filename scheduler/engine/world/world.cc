#include "scheduler/engine/world/world.h"

#include "scheduler/engine/sentences.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace sched {
namespace {

std::size_t kind_index(ChangeMask kind) { return static_cast<std::size_t>(std::countr_zero(kind)); }

}  // namespace

std::optional<Objection> objection_to(const k8s::Pod& pod, const Constraints& constraints) {
  for (const ClusterConstraint* constraint : constraints) {
    if (auto refusal = constraint->refuses(pod)) return Objection{constraint, *std::move(refusal)};
  }
  return std::nullopt;
}

std::string notes_on(const k8s::Pod& pod, const Profile& profile) {
  std::string all;
  for (const UsedConstraint& used : profile.constraints) {
    if (used.filters) all = joined(std::move(all), used.plugin->note(pod));
  }
  return all;
}

World::World(std::vector<Profile> profiles_of_it, EngineOptions options_of_it)
    : profiles(std::move(profiles_of_it)),
      options(std::move(options_of_it)),
      ledger(options.quota),
      statistics(options.typical_pods, options.devices != nullptr),
      // Devices that are chosen one by one would have to be chosen again.
      preempts_(sched::preempts(profiles) && !options.devices) {
  for (const Profile& profile : profiles) {
    for (const UsedConstraint& used : profile.constraints) {
      for (std::size_t kind = 0; kind < kChangeKinds; ++kind) {
        if ((used.plugin->reads() >> kind & 1U) != 0) readers_[kind].push_back(used.plugin.get());
      }
    }
  }
}

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
  demand.allowed = quota::choice_of(shape, enforces_types, options.site_labels);
  return demand;
}

void World::charge(PodRecord& record, const k8s::Pod& pod, quota::Demand demand,
                   const quota::ChargeNote& note) {
  demand.allowed = {};  // the pod has its node already
  record.charge(ledger,
                {.uid = pod.metadata.uid,
                 .namespace_ = pod.metadata.namespace_,
                 .charged_as = note.product,
                 .at = note.at},
                std::move(demand));
}

PodRecord* World::assumed(const std::string& uid, const std::string& node) {
  PodRecord* record = pods.find(uid);
  if (record == nullptr || record->state() != PodRecord::State::kAssumed) return nullptr;
  return nodes.name(record->placement()->node()) == node ? record : nullptr;
}

Constraints World::constraints_for(const k8s::Pod& pod, std::size_t profile) const {
  Constraints all;
  for (const UsedConstraint& used : profiles[profile].constraints) {
    if (used.filters && used.plugin->concerns(pod)) all.push_back(used.plugin.get());
  }
  return all;
}

bool World::tell_constraints(const ClusterChange& change) {
  bool news = false;
  for (ClusterConstraint* reader : readers_[kind_index(kind_of(change))]) {
    news = reader->apply(change) || news;
    for (const std::string& name : reader->take_recounted()) {
      const NodeSlot slot = nodes.find(name);
      if (slot != kNoSlot) nodes.recounted(slot);
    }
  }
  return news;
}

}  // namespace sched
