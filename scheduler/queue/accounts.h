// What the queues ask of the quotas' accounts, to decide which entity's turn it is.
#pragma once

#include "scheduler/queue/entity.h"
#include "scheduler/quota/standing.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace sched {

class Accounts {
 public:
  virtual ~Accounts() = default;

  // Where the entity's quota stands among the others, if this entity is its next one: at
  // Entity::borrows_at if that is known, else by the entity's demand.
  [[nodiscard]] virtual quota::Standing standing(const Entity& head) const = 0;
  // The pools from which the queue's quota may borrow more, if they have something to lend, and
  // where it stands in each.
  [[nodiscard]] virtual std::vector<quota::InPool> in_pools(QueueId queue) const = 0;
  // Whether the pool has anything to lend now.
  [[nodiscard]] virtual bool lends(quota::PoolId pool) const = 0;
  // How many nodes searches have looked at so far; stored answers do not count (Finder::searched).
  [[nodiscard]] virtual std::uint64_t searched() const = 0;
  // What a parked entity waits for, if that is known without a search; nullopt: it may have room.
  [[nodiscard]] virtual std::optional<WaitsFor> known_obstacle(const Entity& parked) = 0;
  // What a parked entity waits for; nullopt: it has room.
  [[nodiscard]] virtual std::optional<WaitsFor> obstacle(const Entity& parked) = 0;
};

}  // namespace sched
