// When entities that wait for a time are due: those that back off, and those that are tried anew.
#pragma once

#include "scheduler/queue/entity.h"

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace sched {

class Timers {
 public:
  // The entity is due at `at`, which becomes its ready_at. It must have no timer yet. O(log
  // entities).
  void start(Entity& entity, Time at) {
    entity.ready_at = at;
    entities_.emplace(std::pair{at, entity.order.arrival}, &entity);
  }
  void stop(const Entity& entity) { entities_.erase({entity.ready_at, entity.order.arrival}); }

  // The entity that is due first; null: none is by `now`.
  [[nodiscard]] Entity* due(Time now) const {
    if (entities_.empty() || entities_.begin()->first.first > now) return nullptr;
    return entities_.begin()->second;
  }
  // When one will be due; nullopt: never.
  [[nodiscard]] std::optional<Time> next() const {
    if (entities_.empty()) return std::nullopt;
    return entities_.begin()->first.first;
  }

 private:
  std::map<std::pair<Time, std::uint64_t>, Entity*> entities_;
};

}  // namespace sched
