#include "scheduler/queue/entity_queue.h"

#include <algorithm>

namespace sched {

void EntityQueue::activate(Entity& entity) {
  leave(entity);
  set_in_line(entity, true);
  enter(entity, QueuePlace::kActive);
  active_.emplace(entity.order, &entity);
}

void EntityQueue::back_off(Entity& entity, Time until) {
  leave(entity);
  set_in_line(entity, true);
  enter(entity, QueuePlace::kBackoff);
  roster_.timers.start(entity, until);
}

void EntityQueue::park(Entity& entity, const Apart& apart, WaitsFor waits_for, Time try_anew_at) {
  leave(entity);
  entity.apart = apart;
  if (apart.any()) ++roster_.apart;
  set_in_line(entity, waits_for != kWaitsForChange && !apart.any());
  enter(entity, QueuePlace::kParked);
  parked_.add(entity, waits_for, roster_.changes);
  roster_.timers.start(entity, try_anew_at);
}

void EntityQueue::refuse(Entity& entity, ChangeMask wakes_on, Time try_anew_at) {
  remove(entity);
  enter(entity, QueuePlace::kRefused);
  entity.wakes_on = wakes_on;
  refused_[wakes_on].emplace(entity.order, &entity);
  roster_.timers.start(entity, try_anew_at);
}

void EntityQueue::gate(Entity& entity) {
  remove(entity);
  enter(entity, QueuePlace::kGated);
}

void EntityQueue::remove(Entity& entity) {
  leave(entity);
  set_in_line(entity, false);
}

void EntityQueue::enter(Entity& entity, QueuePlace place) {
  entity.place = place;
  roster_.pods[static_cast<std::size_t>(place)] += entity.pods;
}

void EntityQueue::leave(Entity& entity) {
  entity.must_borrow = false;
  switch (entity.place) {
    case QueuePlace::kNone:
      return;
    case QueuePlace::kActive:
      active_.erase(entity.order);
      break;
    case QueuePlace::kBackoff:
      roster_.timers.stop(entity);
      break;
    case QueuePlace::kParked:
      parked_.remove(entity);
      if (entity.apart.any()) --roster_.apart;
      roster_.timers.stop(entity);
      break;
    case QueuePlace::kRefused:
      refused_.find(entity.wakes_on)->second.erase(entity.order);
      roster_.timers.stop(entity);
      break;
    case QueuePlace::kGated:
      break;
  }
  roster_.pods[static_cast<std::size_t>(entity.place)] -= entity.pods;
  entity.place = QueuePlace::kNone;
}

bool EntityQueue::waits_for(ChangeMask changes) const {
  return std::any_of(refused_.begin(), refused_.end(), [&](const auto& waiting) {
    return (waiting.first & changes) != 0 && !waiting.second.empty();
  });
}

void EntityQueue::wake(ChangeMask changes) {
  for (auto& [wakes_on, entities] : refused_) {
    if ((wakes_on & changes) == 0) continue;
    while (!entities.empty()) activate(*entities.begin()->second);
  }
}

Entity* EntityQueue::head() const {
  Entity* active = active_.empty() ? nullptr : active_.begin()->second;
  Entity* parked = parked_.first_to_check();
  if (parked == nullptr) return active;
  return active != nullptr && active->order < parked->order ? active : parked;
}

void EntityQueue::rejoin(const Entity& entity) {
  for (Entity* alike : parked_.group_of(entity)) activate(*alike);
}

void EntityQueue::set_in_line(Entity& entity, bool in_line) {
  if (!keeps_line_) return;
  const Entity* const before = line_.first();
  if (in_line) {
    line_.join(entity);
  } else {
    line_.leave(entity);
  }
  Entity* const first = line_.first();
  // Who waits for its turn and is not the first now still waits for it.
  if (first != nullptr && first != before && first->place == QueuePlace::kParked) {
    parked_.check_group_of(*first, kWaitsForTurn);
  }
}

}  // namespace sched
