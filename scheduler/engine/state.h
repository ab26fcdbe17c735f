// The inside of the engine: what it knows, in the order in which one part stands on another.
//
//   intake.cc       events → state
//   node_health.cc  what kubelets did to pods → which nodes are backed off
//   cycle.cc        state → the next decision
//   quota.cc        the same for pods that a quota counts, and whose turn it is
//   holds.cc        what is kept for a pod that has waited long
//   repartition.cc  pods that wait for MIG instances, idle nodes → advice
//   explain.cc      state → answers about a pod, without changing anything
//
//   cache/          every node's answer to a shape, kept until nodes change
//   report/         the words and numbers for a pod that fits nowhere
//   notices/        what administrators are told of nodes and of other schedulers' pods
//   health/         which nodes reject what is bound to them
//   repartition/    how MIG GPUs should be cut for those who wait
#pragma once

#include "scheduler/cluster/nodes.h"
#include "scheduler/cluster/pod_templates.h"
#include "scheduler/cluster/pods.h"
#include "scheduler/cluster/shapes.h"
#include "scheduler/cluster/workload.h"
#include "scheduler/engine/cache/score_caches.h"
#include "scheduler/engine/engine.h"
#include "scheduler/engine/health/black_holes.h"
#include "scheduler/engine/notices/foreign_gpu_pods.h"
#include "scheduler/engine/notices/node_complaints.h"
#include "scheduler/engine/repartition/advice.h"
#include "scheduler/queue/queues.h"
#include "scheduler/quota/ledger.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sched {

class Engine::State {
 public:
  State(std::vector<Profile> profiles, EngineOptions options);

  void apply(Event event, Time now);
  [[nodiscard]] std::optional<Decision> step(Time now);
  [[nodiscard]] std::optional<Time> next_wakeup() const;
  [[nodiscard]] PendingPods pending() const;
  [[nodiscard]] std::vector<QuotaStatus> quota_statuses() const;
  [[nodiscard]] QuotaNews take_quota_news();
  [[nodiscard]] std::uint64_t quota_version() const;
  [[nodiscard]] GpuFigures gpu_figures() const;
  [[nodiscard]] Explanation explain(const k8s::Pod& pod) const;
  [[nodiscard]] std::vector<Candidate> candidates(const k8s::Pod& pod, std::size_t at_most) const;

 private:
  // Intake.
  void on(const event::NodeUpserted& event, Time now);
  void on(const event::NodeDeleted& event, Time now);
  void on(event::PodUpserted&& event, Time now);
  void on(const event::PodDeleted& event, Time now);
  void on(const event::NamespaceUpserted& event, Time now);
  void on(const event::NamespaceDeleted& event, Time now);
  void on(const event::ClaimUpserted& event, Time now);
  void on(const event::ClaimDeleted& event, Time now);
  void on(const event::VolumeUpserted& event, Time now);
  void on(const event::VolumeDeleted& event, Time now);
  void on(const event::DeviceClassUpserted& event, Time now);
  void on(const event::DeviceClassDeleted& event, Time now);
  void on(const event::QuotaUpserted& event, Time now);
  void on(const event::QuotaDeleted& event, Time now);
  void on(const event::PodRejected& event, Time now);
  void on(const event::Synced& event, Time now);
  void on(const event::BindSucceeded& event, Time now);
  void on(const event::BindFailed& event, Time now);

  void pod_bound(const k8s::Pod& pod, Time now);
  void pod_waits(k8s::Pod pod, std::size_t profile, Time now);
  void pod_changed(PodRecord& record, k8s::Pod pod, Time now);
  void pod_gone(const std::string& uid);
  void take_over(WaitingPod& waiting, k8s::Pod pod);
  // Which devices a bound pod takes, where GPUs are kept one by one: those it has had, else any.
  [[nodiscard]] std::vector<gpu::DeviceShare> devices_of_bound(const k8s::Pod& pod,
                                                               const PodRecord& record,
                                                               NodeSlot node);
  void enqueue(WaitingPod& waiting);
  // The pod, which has a placement, counts against its namespace's quota.
  void charge(PodRecord& record, const k8s::Pod& pod, quota::Demand demand,
              const std::string& charged_as);
  void note_foreign(const k8s::Pod& pod, NodeSlot node, const Claim& claim);
  [[nodiscard]] bool owned(const NodeFacts& node) const;
  [[nodiscard]] Time end_of_backoff(const WaitingPod& waiting, Time now) const;

  // The constraints hear of a change, and if it may lift an objection of theirs, the pods that wait
  // for one of this kind are woken.
  void tell_constraints(const ClusterChange& change, ChangeMask kind);
  // The pod counts as bound to the node from now on.
  void tell_assumed(WaitingPod& waiting, const std::string& node, ChangeMask kind);

  // Quota. What a pod of the shape asks of it, under that profile.
  [[nodiscard]] quota::Demand demand_of(std::size_t profile, const PodShape& shape,
                                        const ResourceNames& names) const;
  // A pod's queue is that of its quota, if one counts it; pods go to where they belong now.
  [[nodiscard]] QueueId queue_for(const WaitingPod& pod) const;
  void requeue_by_quota();
  // Pods that wait for quota are looked at again where there may be room.
  void wake_for_quota();
  // Parked pods that their quota could never help, and now may, or the other way round, hear of it.
  void rejoin_by_quota();
  // What the queues ask.
  class Turns final : public Accounts {
   public:
    explicit Turns(State& state) : state_(state) {}
    [[nodiscard]] quota::Standing standing(const WaitingPod& head) const override;
    [[nodiscard]] quota::Standing as_borrower(QueueId queue) const override;
    [[nodiscard]] std::vector<quota::PoolId> pools_of(QueueId queue) const override;
    [[nodiscard]] bool lends(quota::PoolId pool) const override;
    [[nodiscard]] std::optional<WaitsFor> obstacle(const WaitingPod& parked) override;

   private:
    State& state_;
  };
  // Where a pod may go by its quota, and what there is.
  struct Search {
    quota::Admission admission;
    Confinement confinement;            // the classes that were looked at last
    const ScoreCache* cache = nullptr;  // with a feasible node; holds until the next search
    bool held_node = false;             // the node that is held for it has room
    [[nodiscard]] bool found() const { return cache != nullptr || held_node; }
    [[nodiscard]] WaitsFor waits_for() const;
  };
  [[nodiscard]] Search search(const WaitingPod& pod);
  [[nodiscard]] Confinement confined_to(std::vector<quota::ClassId> classes);
  // What a parked pod waits for; nullopt: there is room.
  [[nodiscard]] std::optional<WaitsFor> obstacle_of(const WaitingPod& pod);
  [[nodiscard]] std::optional<Decision> attempt_by_quota(WaitingPod& pod, Time now);
  [[nodiscard]] Decision over_quota(WaitingPod& pod, Time now);
  [[nodiscard]] Decision wait_for_turn(WaitingPod& pod, Time now);
  [[nodiscard]] decision::Unschedulable quota_refusal(WaitingPod& pod, std::string message);
  // What a quota says about a pod, in numbers. `waiting`: the pod where it waits; null: it is asked
  // about hypothetically.
  struct QuotaQuestion {
    quota::QuotaId quota{};
    const quota::Demand& demand;
    const std::string& namespace_;
    const WaitingPod* waiting = nullptr;
  };
  // The same for those who only ask.
  struct QuotaJudgement {
    quota::Admission admission;
    bool refuses = false;  // whatever the nodes say
    std::string words;
    [[nodiscard]] bool allows(quota::ClassId id) const {
      return id == quota::kNoGpuClass || admission.has(id);
    }
  };
  // Where quota lets the pod go, as if it held nothing; nullopt: no quota counts it.
  [[nodiscard]] std::optional<quota::Admission> admission_anew(const k8s::Pod& pod,
                                                               const PodShape& shape,
                                                               const ResourceNames& names) const;
  // nullopt: no quota counts the pod.
  [[nodiscard]] std::optional<QuotaJudgement> judge_by_quota(const k8s::Pod& pod,
                                                             const PodShape& shape,
                                                             const ResourceNames& names) const;
  [[nodiscard]] std::string quota_words(const QuotaQuestion& question) const;
  [[nodiscard]] std::string quota_words(const WaitingPod& pod) const;
  [[nodiscard]] std::string behind_words(const WaitingPod& pod) const;
  [[nodiscard]] QuotaStatus status_of(quota::QuotaId quota) const;
  // Whether those before the pod keep it from a try.
  [[nodiscard]] bool must_wait_for_turn(const WaitingPod& pod) const;

  // Holds. The first in line that has waited long, and can be helped, is kept what it needs.
  struct Hold {
    std::uint64_t arrival = 0;            // of the pod
    std::vector<quota::ClassId> classes;  // of the nodes that could take it
    std::optional<Placement> on;
    bool sought = false;              // a node was looked for, with or without success
    std::uint64_t facts_version = 0;  // of the nodes, when `on` was looked at last
  };
  // The classes of the nodes that could take a pod of that shape if they were empty: nothing is
  // kept for a pod that no node could ever take, and what is kept is of a type that serves it.
  struct Reach {
    ShapeRef shape;                              // keeps its number
    std::optional<std::uint64_t> facts_version;  // of the nodes
    Time at{};
    std::vector<quota::ClassId> classes;  // by ascending id
    bool in_use = false;                  // since holds were renewed last
  };
  // O(quotas), where quotas, the pods that wait for them, or nodes have changed since, or a time
  // has come; else O(1).
  void renew_holds(Time now);
  void renew_hold(QueueId queue, const WaitingLine& line, Time now);
  // Lets go of the node that the pod holds if that will not do any more.
  void renew_node(WaitingPod& pod);
  // Whether the node could take the pod if it were empty.
  [[nodiscard]] bool could_ever_hold(const WaitingPod& pod, NodeSlot node);
  // The first in line that something is to be kept for; null: everybody has patience, or cannot be
  // helped.
  [[nodiscard]] WaitingPod* next_to_hold(quota::QuotaId quota, const WaitingLine& line, Time now);
  // Found anew when nodes have changed, but not all the time. O(nodes) then.
  [[nodiscard]] const std::vector<quota::ClassId>& reach_of(const WaitingPod& pod, Time now);
  [[nodiscard]] Hold* hold_for(const WaitingPod& pod);
  [[nodiscard]] const Hold* hold_for(const WaitingPod& pod) const;
  void release_hold(QueueId queue);
  // Makes sure that the pod, for which quota is held, holds a node of those classes, if one could
  // ever take it.
  void hold_node(const WaitingPod& pod, Confinement confinement);
  [[nodiscard]] bool held_node_has_room(const WaitingPod& pod, const quota::Admission& admission);
  [[nodiscard]] Decision assume_held(WaitingPod& pod);

  // Node health.
  void note_started(const k8s::Pod& pod, Time now);
  void end_backoffs(Time now);
  void released(const std::string& node, bool proven);
  // The node's facts say what black_holes_ says.
  void show_backoff(const std::string& node);
  [[nodiscard]] std::optional<Decision> next_node_news();

  // Cycle.
  [[nodiscard]] std::optional<Decision> attempt(WaitingPod& pod, Time now);
  [[nodiscard]] Decision assume(WaitingPod& pod, const ScoreCache& cache);
  [[nodiscard]] Decision assume_on(WaitingPod& pod, const ScoreCache& cache, NodeSlot node);
  [[nodiscard]] std::vector<gpu::DeviceShare> devices_for(const PodShape& shape,
                                                          const ScoreCache& cache,
                                                          NodeSlot node) const;
  [[nodiscard]] Decision park(WaitingPod& pod, Time now, Confinement confinement = {},
                              WaitsFor waits_for = kWaitsForNodes);
  [[nodiscard]] std::optional<Decision> refuse(WaitingPod& pod, const ClusterConstraint& by,
                                               std::string objection, Time now);

  // Repartition.
  [[nodiscard]] std::optional<Decision> advise(Time now);
  [[nodiscard]] std::optional<Time> next_advice() const;
  [[nodiscard]] RepartitionAdvice::Input repartition_input() const;
  // The pods, by their turn, that ask for MIG instances and are parked for want of a node.
  [[nodiscard]] std::vector<const WaitingPod*> waiting_for_instances();

  [[nodiscard]] std::optional<std::size_t> profile_of(std::string_view scheduler_name) const;
  // What the profile's constraints add to a pod's details.
  [[nodiscard]] std::string notes(std::size_t profile, const k8s::Pod& pod) const;

  std::vector<Profile> profiles_;
  EngineOptions options_;
  ResourceNames names_;
  Nodes nodes_;
  Shapes shapes_;
  PodTemplates templates_{shapes_, names_};
  quota::Ledger ledger_;
  quota::ClassSets class_sets_;
  Pods pods_;
  Turns turns_{*this};
  Queues queue_;
  std::map<QueueId, Hold> holds_;
  // Of those that have waited long, by profile and shape.
  std::map<std::pair<std::size_t, ShapeId>, Reach> reach_;
  WorkloadStatistics statistics_;
  ScoreCaches caches_;
  ForeignGpuPods foreign_;
  std::optional<BlackHoles> black_holes_;      // if a profile's filter reads them
  std::map<std::string, Decision> node_news_;  // by node: the latest that is not told yet
  RepartitionAdvice repartitions_;
  NodeComplaints complaints_;
  bool synced_ = false;
  std::uint64_t arrivals_ = 0;                         // pods seen so far
  std::uint64_t draws_ = 0;                            // random tie-breaks so far
  std::uint64_t openings_seen_ = 0;                    // up to which parked pods were checked
  std::optional<Time> next_hold_;                      // when a pod will have waited long
  using Seen = std::array<std::uint64_t, 3>;           // versions: of queues, ledger, nodes' facts
  Seen holds_seen_{};                                  // when holds were renewed last
  std::map<quota::QuotaId, std::string> told_quotas_;  // the names of those that were told of
};

// What a constraint says about the pod, and which; the first that objects.
struct Objection {
  const ClusterConstraint* by = nullptr;
  std::string reason;
};
[[nodiscard]] std::optional<Objection> objection_to(const k8s::Pod& pod, const Profile& profile);

[[nodiscard]] PodRef ref_of(const k8s::Pod& pod);

}  // namespace sched
