// What the queues ask of the quotas' accounts, to know whose turn it is.
#pragma once

#include "scheduler/queue/entity.h"
#include "scheduler/quota/standing.h"

#include <optional>
#include <vector>

namespace sched {

class Accounts {
 public:
  virtual ~Accounts() = default;

  // Where the entity's quota stands among the others, with this entity as its next: by its
  // Entity::must_borrow, and else by its demand.
  [[nodiscard]] virtual quota::Standing standing(const Entity& head) const = 0;
  // From which pools it may borrow more, were there something to lend, and where it stands in each.
  [[nodiscard]] virtual std::vector<quota::InPool> in_pools(QueueId queue) const = 0;
  // Whether the pool has anything to lend now.
  [[nodiscard]] virtual bool lends(quota::PoolId pool) const = 0;
  // What a parked entity waits for; nullopt: it has room.
  [[nodiscard]] virtual std::optional<WaitsFor> obstacle(const Entity& parked) = 0;
};

}  // namespace sched
