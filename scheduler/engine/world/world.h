// The world: the engine's whole state of the cluster. Intake changes it by events, actions change
// it by decisions; the finder only reads it.
//
// Each part is built on those before it.
#pragma once

#include "scheduler/cluster/nodes.h"
#include "scheduler/cluster/pod_classes.h"
#include "scheduler/cluster/pod_templates.h"
#include "scheduler/cluster/shapes.h"
#include "scheduler/cluster/workload.h"
#include "scheduler/engine/options.h"
#include "scheduler/engine/world/awaited_devices.h"
#include "scheduler/engine/world/awaited_labels.h"
#include "scheduler/engine/world/disruption_budgets.h"
#include "scheduler/engine/world/pods.h"
#include "scheduler/engine/world/topology_rejections.h"
#include "scheduler/framework/profile.h"
#include "scheduler/quota/charged_as.h"
#include "scheduler/quota/ledger.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sched {

// A constraint's refusal of a pod, and the constraint.
struct Objection {
  const ClusterConstraint* by = nullptr;
  Refusal refusal;
};
// The first refusal among the constraints that concern a pod; nullopt: none.
[[nodiscard]] std::optional<Objection> objection_to(const k8s::Pod& pod,
                                                    const Constraints& constraints);
// What the constraints of its profile add to the details of a pod that found no node.
[[nodiscard]] std::string notes_on(const k8s::Pod& pod, const Profile& profile);

struct World {
  World(std::vector<Profile> profiles_of_it, EngineOptions options_of_it);
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // The index of the profile of that name; nullopt: the pod is another scheduler's.
  [[nodiscard]] std::optional<std::size_t> profile_of(std::string_view scheduler_name) const;
  // Whether pods may be evicted for pods of some profile.
  [[nodiscard]] bool preempts() const { return preempts_; }
  // Whether a profile's configuration reserves the node for this scheduler.
  [[nodiscard]] bool owns(const NodeFacts& node) const;

  // What a pod of the shape asks of its quota, under that profile.
  [[nodiscard]] quota::Demand demand_of(std::size_t profile, const PodShape& shape,
                                        const ResourceNames& resource_names) const;
  // Charges a pod that has a placement to its namespace's quota.
  void charge(PodRecord& record, const k8s::Pod& pod, quota::Demand demand,
              const quota::ChargeNote& note);
  // A later time for each note, so that their order is known.
  [[nodiscard]] Time next_charge(Time now) {
    return last_charge_ = std::max(now, last_charge_ + Time::duration(1));
  }

  // The pod of that uid if it is assumed on that node; else null.
  [[nodiscard]] PodRecord* assumed(const std::string& uid, const std::string& node);

  // The profile's constraints that concern the pod.
  [[nodiscard]] Constraints constraints_for(const k8s::Pod& pod, std::size_t profile) const;
  // Reports the change to every constraint that reads such changes. False: none of their answers
  // changes.
  bool tell_constraints(const ClusterChange& change);

  const std::vector<Profile> profiles;
  const EngineOptions options;
  ResourceNames names;
  PodClasses classes;
  Nodes nodes;
  AwaitedDevices awaited_devices;
  AwaitedLabels awaited_labels;
  Shapes shapes;
  PodTemplates templates{shapes, names};
  quota::Ledger ledger;
  Pods pods;
  WorkloadStatistics statistics;
  TopologyRejections topology_rejections;
  DisruptionBudgets budgets;   // of PodDisruptionBudgets
  std::uint64_t arrivals = 0;  // pods of this scheduler that were seen waiting, ever

 private:
  std::array<std::vector<ClusterConstraint*>, kChangeKinds> readers_;
  Time last_charge_{};
  const bool preempts_;
};

}  // namespace sched
