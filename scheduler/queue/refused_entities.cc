#include "scheduler/queue/refused_entities.h"

#include <utility>

namespace sched {

void RefusedEntities::add(Entity& entity, std::vector<ObjectKey> awaits) {
  entity.awaits = std::move(awaits);
  for (const ObjectKey& object : entity.awaits) waiting_[object].emplace(entity.order, &entity);
}

void RefusedEntities::remove(Entity& entity) {
  stop_waiting(entity);
  if (!std::exchange(entity.woken, false)) return;
  const auto of_tenant = woken_.find(entity.tenant);
  of_tenant->second.erase(entity.order);
  if (of_tenant->second.empty()) woken_.erase(of_tenant);
}

void RefusedEntities::stop_waiting(Entity& entity) {
  for (const ObjectKey& object : entity.awaits) {
    const auto waiting = waiting_.find(object);
    if (waiting == waiting_.end()) continue;  // it was named twice
    waiting->second.erase(entity.order);
    if (waiting->second.empty()) waiting_.erase(waiting);
  }
  entity.awaits.clear();
}

void RefusedEntities::wake(const ObjectKey& changed) {
  wake_all(changed);
  wake_all({.kind = changed.kind});
}

void RefusedEntities::wake_all(const ObjectKey& object) {
  for (auto all = waiting_.find(object); all != waiting_.end(); all = waiting_.find(object)) {
    Entity& entity = *all->second.begin()->second;
    stop_waiting(entity);
    entity.woken = true;
    woken_[entity.tenant].emplace(entity.order, &entity);
  }
}

Entity* RefusedEntities::next_woken() {
  if (woken_.empty()) return nullptr;
  auto next = woken_.upper_bound(last_tenant_);
  if (next == woken_.end()) next = woken_.begin();
  last_tenant_ = next->first;
  return next->second.begin()->second;
}

}  // namespace sched
