// What the queues ask of the quotas' accounts, to know whose turn it is.
#pragma once

#include "scheduler/queue/waiting_pod.h"
#include "scheduler/quota/standing.h"

#include <optional>
#include <vector>

namespace sched {

class Accounts {
 public:
  virtual ~Accounts() = default;

  // Where the pod's quota stands among the others, with this pod as its next: by its
  // WaitingPod::must_borrow, and else by its demand.
  [[nodiscard]] virtual quota::Standing standing(const WaitingPod& head) const = 0;
  // From which pools it may borrow more, were there something to lend, and where it stands in each.
  [[nodiscard]] virtual std::vector<quota::InPool> in_pools(QueueId queue) const = 0;
  // Whether the pool has anything to lend now.
  [[nodiscard]] virtual bool lends(quota::PoolId pool) const = 0;
  // What a parked pod waits for; nullopt: it has room.
  [[nodiscard]] virtual std::optional<WaitsFor> obstacle(const WaitingPod& parked) = 0;
};

}  // namespace sched
