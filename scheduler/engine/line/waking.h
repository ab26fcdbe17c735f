// Which pods that wait are looked at again, when something has changed.
#pragma once

#include "scheduler/engine/world/world.h"
#include "scheduler/queue/queues.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace sched {

class Waking {
 public:
  // Both outlive it.
  Waking(World& world, Queues& queue) : world_(world), queue_(queue) {}

  // Tells the constraints of a change. The pods that wait for a change of this object become
  // active, unless `news` is false: then nothing has changed for pods that wait.
  void cluster_changed(const ClusterChange& change, bool news = true);
  // The constraints count the pod as bound to the node from now on.
  void assumed(WaitingPod& waiting, const std::string& node);

  // What nodes and quotas have become since the last call: parked pods that may have room now are
  // looked at again. For what other pods and objects have become, once a second at most, since
  // every bind changes some. And of pods for whom rules across nodes have a say some kinds at a
  // time, a thousand a second for each sort of change, since each kind may have counts of its own:
  // who makes many keeps the pods of nobody else waiting.
  void wake_for_nodes(Time now);
  // Deleted quotas whose time is over are forgotten, too.
  void wake_for_quota(Time now);
  // When wake_for_nodes() will have something to do although nothing changes; nullopt: never.
  [[nodiscard]] std::optional<Time> next() const;

  // A pod's queue is that of its quota, if a quota counts it.
  [[nodiscard]] QueueId queue_for(const WaitingPod& pod) const;
  // Namespaces may belong to other quotas: each pod goes to the queue where it belongs now.
  void requeue_by_quota();

 private:
  // A parked pod is in line exactly if its quota may ever help it: those for which that has changed
  // become active.
  void rejoin_by_quota();
  void look_for_others(Time now);

  World& world_;
  Queues& queue_;
  static constexpr std::chrono::seconds kBetweenRounds{1};
  static constexpr std::size_t kKindsAtATime = 20;
  static constexpr std::chrono::milliseconds kBetweenLooks{20};

  std::uint64_t openings_seen_ = 0;
  ChangeLog::Position nodes_seen_ = 0;
  // A round asks about all kinds that were not asked about since it began.
  std::uint64_t round_ = 0;  // the changes of others when it began
  Time next_round_{};
  bool looks_on_ = false;  // there may be kinds left to ask about
  Time next_look_{};
};

}  // namespace sched
