// The refused entities of all queues, by the objects that they wait for; and those of them of which
// an object has changed, which become active a few at a time.
//
// Thousands of pods may wait for one object, and whoever creates them may change it as often as the
// API server takes it. If all of them were tried at once, at each change, other tenants' pods would
// wait for that. So they are tried a few at a time, each tenant (Entity::tenant) in turn.
#pragma once

#include "scheduler/queue/entity.h"

#include <cstdint>
#include <map>
#include <vector>

namespace sched {

class RefusedEntities {
 public:
  // The entity waits for these. O(objects · log entities).
  void add(Entity& entity, std::vector<ObjectKey> awaits);
  void remove(Entity& entity);

  // The object has changed: those that wait for it, or for any of its kind, are woken. O(their
  // number · log entities); a second change costs nothing while they have not been tried again.
  void wake(const ObjectKey& changed);
  // The next to become active: of the tenant whose turn it is, the entity with the first turn. The
  // caller removes it. Null: none is woken.
  [[nodiscard]] Entity* next_woken();

  // Whether some wait for an object / are woken.
  [[nodiscard]] bool any_waits() const { return !waiting_.empty(); }
  [[nodiscard]] bool any_woken() const { return !woken_.empty(); }

 private:
  using ByOrder = std::map<QueueOrder, Entity*>;
  void wake_all(const ObjectKey& object);
  // It waits for no object any more.
  void stop_waiting(Entity& entity);

  std::map<ObjectKey, ByOrder> waiting_;    // no object has an empty map
  std::map<std::uint64_t, ByOrder> woken_;  // by tenant; no tenant has an empty map
  std::uint64_t last_tenant_ = 0;           // that had its turn
};

}  // namespace sched
