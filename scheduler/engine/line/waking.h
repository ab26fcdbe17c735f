// Wakes waiting pods when something has changed that may give them room.
#pragma once

#include "scheduler/engine/world/world.h"
#include "scheduler/queue/queues.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

namespace sched {

class Waking {
 public:
  // Both outlive it.
  Waking(World& world, Queues& queue) : world_(world), queue_(queue) {}

  // Reports a change to the constraints. The pods that wait for a change of this object are woken,
  // unless `news` is false: then the change does not matter to waiting pods. Returns whether it may
  // matter to any pod: not if it is of an object that constraints alone read, and none of their
  // answers has changed.
  bool cluster_changed(const ClusterChange& change, bool news = true);
  // Makes the constraints count the pod as bound to the node.
  void assumed(WaitingPod& waiting, const std::string& node);

  // Woken pods become active, some in each span of time: whoever creates many, and changes what
  // they wait for again and again, does not make the pods of others wait.
  void wake_refused(Time now);

  // Marks for a check the parked pods that may have room after changes of nodes since the last
  // call. For changes of other pods and objects it does so at most once a second, because every
  // bind makes some; a node that is not left out any more after a TopologyAffinityError counts as
  // such a change. Pods for which rules across nodes count are checked some kinds at a time, a
  // thousand kinds a second for each sort of change, because each kind may have counts of its own.
  // So a user who creates many kinds does not make the pods of others wait.
  void wake_for_nodes(Time now);
  // The same for changes of quotas.
  void wake_for_quota();
  // Forgets deleted quotas when their time is over. That ends what the ledger holds, so holds are
  // renewed before the next pod has its turn.
  void forget_deleted_quotas(Time now);
  // When wake_refused() or wake_for_nodes() will have something to do even if nothing changes;
  // nullopt: never.
  [[nodiscard]] std::optional<Time> next() const;

  // The queue of the entity's quota; the main queue if no quota counts it.
  [[nodiscard]] QueueId queue_for(const Entity& entity) const;
  // Namespaces may belong to other quotas: moves each entity to the queue of its quota.
  void requeue_by_quota();

 private:
  // A parked pod is in line exactly if its quota could ever give it room. Pods for which that has
  // changed become active, and so do those that were told something of their quota that is not so
  // any more: all pods of the quotas that are `replaced`.
  void rejoin_by_quota(const std::set<quota::QuotaId>& replaced);
  // Whether an entity of the queue, or one that is alike with it, was told that its quota has no
  // room, which it has, or that others have their turns first, which none need to have any more.
  [[nodiscard]] bool was_told_otherwise(QueueId id, const EntityQueue& queue,
                                        const Entity& parked) const;
  void end_rejections(Time now);
  void look_for_others(Time now);
  [[nodiscard]] std::optional<Time> next_look_for_others() const;

  World& world_;
  Queues& queue_;
  static constexpr std::chrono::seconds kBetweenRounds{1};
  static constexpr std::size_t kKindsAtATime = 20;
  static constexpr std::chrono::milliseconds kBetweenLooks{20};

  // A look at a refused pod takes some microseconds.
  static constexpr std::size_t kRefusedInASpan = 200;
  static constexpr std::chrono::milliseconds kSpan{10};

  Time span_ends_{};
  std::size_t woken_in_span_ = 0;
  std::uint64_t openings_seen_ = 0;
  std::uint64_t facts_seen_ = 0;
  std::uint64_t ended_seen_ = 0;  // TopologyRejections::ended()
  ChangeLog::Position nodes_seen_ = 0;
  // A round checks all kinds that were not checked since it began.
  std::uint64_t round_ = 0;  // changes().others when it began
  Time next_round_{};
  bool looks_on_ = false;  // there may be kinds left to check
  Time next_look_{};
};

}  // namespace sched
