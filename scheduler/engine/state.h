// The inside of the engine: what it knows, in the order in which one part stands on another.
//
//   intake.cc    events → state
//   cycle.cc     state → the next decision
//   explain.cc   state → answers about a pod, without changing anything
#pragma once

#include "scheduler/cluster/nodes.h"
#include "scheduler/cluster/pods.h"
#include "scheduler/cluster/shapes.h"
#include "scheduler/cluster/workload.h"
#include "scheduler/engine/engine.h"
#include "scheduler/engine/foreign_gpu_pods.h"
#include "scheduler/engine/score_caches.h"
#include "scheduler/queue/pod_queue.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sched {

class Engine::State {
 public:
  State(std::vector<Profile> profiles, EngineOptions options);

  void apply(const Event& event, Time now);
  [[nodiscard]] std::optional<Decision> step(Time now);
  [[nodiscard]] std::optional<Time> next_wakeup() const;
  [[nodiscard]] PendingPods pending() const;
  [[nodiscard]] Explanation explain(const k8s::Pod& pod) const;
  [[nodiscard]] std::vector<Candidate> candidates(const k8s::Pod& pod, std::size_t at_most) const;

 private:
  // Intake.
  void on(const event::NodeUpserted& event, Time now);
  void on(const event::NodeDeleted& event, Time now);
  void on(const event::PodUpserted& event, Time now);
  void on(const event::PodDeleted& event, Time now);
  void on(const event::NamespaceUpserted& event, Time now);
  void on(const event::NamespaceDeleted& event, Time now);
  void on(const event::ClaimUpserted& event, Time now);
  void on(const event::ClaimDeleted& event, Time now);
  void on(const event::VolumeUpserted& event, Time now);
  void on(const event::VolumeDeleted& event, Time now);
  void on(const event::DeviceClassUpserted& event, Time now);
  void on(const event::DeviceClassDeleted& event, Time now);
  void on(const event::Synced& event, Time now);
  void on(const event::BindSucceeded& event, Time now);
  void on(const event::BindFailed& event, Time now);

  void pod_bound(const k8s::Pod& pod);
  void pod_waits(const k8s::Pod& pod, std::size_t profile, Time now);
  void pod_changed(PodRecord& record, const k8s::Pod& pod);
  void pod_gone(const std::string& uid);
  void take_over(WaitingPod& waiting, const k8s::Pod& pod);
  // Which devices a bound pod takes, where GPUs are kept one by one: those it has had, else any.
  [[nodiscard]] std::vector<gpu::DeviceShare> devices_of_bound(const k8s::Pod& pod,
                                                               const PodRecord& record,
                                                               NodeSlot node);
  void enqueue(WaitingPod& waiting);
  void note_foreign(const k8s::Pod& pod, NodeSlot node, const Claim& claim);
  [[nodiscard]] bool owned(const NodeFacts& node) const;
  [[nodiscard]] Time end_of_backoff(const WaitingPod& waiting, Time now) const;

  // The constraints hear of a change, and the pods that wait for one of this kind are woken.
  void tell_constraints(const ClusterChange& change, ChangeMask kind);
  // The pod counts as bound to the node from now on.
  void tell_assumed(WaitingPod& waiting, const std::string& node, ChangeMask kind);

  // Cycle.
  [[nodiscard]] std::optional<Decision> attempt(WaitingPod& pod, Time now);
  [[nodiscard]] Decision assume(WaitingPod& pod, const ScoreCache& cache);
  [[nodiscard]] std::vector<gpu::DeviceShare> devices_for(const PodShape& shape,
                                                          const ScoreCache& cache,
                                                          NodeSlot node) const;
  [[nodiscard]] Decision park(WaitingPod& pod, Time now);
  [[nodiscard]] std::optional<Decision> refuse(WaitingPod& pod, const ClusterConstraint& by,
                                               std::string objection, Time now);

  [[nodiscard]] std::optional<std::size_t> profile_of(std::string_view scheduler_name) const;
  // What the profile's constraints add to a pod's details.
  [[nodiscard]] std::string notes(std::size_t profile, const k8s::Pod& pod) const;

  std::vector<Profile> profiles_;
  EngineOptions options_;
  ResourceNames names_;
  Nodes nodes_;
  Shapes shapes_;
  Pods pods_;
  PodQueue queue_;
  WorkloadStatistics statistics_;
  ScoreCaches caches_;
  ForeignGpuPods foreign_;
  bool synced_ = false;
  std::uint64_t arrivals_ = 0;       // pods seen so far
  std::uint64_t draws_ = 0;          // random tie-breaks so far
  std::uint64_t openings_seen_ = 0;  // up to which parked pods were checked
};

// What a constraint says about the pod, and which; the first that objects.
struct Objection {
  const ClusterConstraint* by = nullptr;
  std::string reason;
};
[[nodiscard]] std::optional<Objection> objection_to(const k8s::Pod& pod, const Profile& profile);

[[nodiscard]] PodRef ref_of(const k8s::Pod& pod);

}  // namespace sched
