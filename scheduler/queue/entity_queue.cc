#include "scheduler/queue/entity_queue.h"

#include <utility>

namespace sched {

void EntityQueue::activate(Entity& entity, QueueEvent event) {
  leave(entity);
  set_in_line(entity, true);
  enter(entity, QueuePlace::kActive, event);
  active_.emplace(entity.order, &entity);
}

void EntityQueue::back_off(Entity& entity, Time until, QueueEvent event) {
  leave(entity);
  set_in_line(entity, true);
  enter(entity, QueuePlace::kBackoff, event);
  roster_.timers.start(entity, until);
}

void EntityQueue::park(Entity& entity, const Apart& apart, WaitsFor waits_for, Time try_anew_at,
                       QueueEvent event) {
  leave(entity);
  entity.apart = apart;
  if (apart.any()) ++roster_.apart;
  set_in_line(entity, waits_for != kWaitsForChange && !apart.any());
  enter(entity, QueuePlace::kParked, event);
  parked_.add(entity, waits_for, roster_.changes);
  roster_.timers.start(entity, try_anew_at);
}

void EntityQueue::refuse(Entity& entity, std::vector<ObjectKey> awaits, Time try_anew_at,
                         QueueEvent event) {
  remove(entity);
  enter(entity, QueuePlace::kRefused, event);
  roster_.refused.add(entity, std::move(awaits));
  roster_.timers.start(entity, try_anew_at);
}

void EntityQueue::gate(Entity& entity, QueueEvent event) {
  remove(entity);
  enter(entity, QueuePlace::kGated, event);
}

void EntityQueue::remove(Entity& entity) {
  leave(entity);
  set_in_line(entity, false);
}

void EntityQueue::enter(Entity& entity, QueuePlace place, QueueEvent event) {
  entity.place = place;
  const auto index = static_cast<std::size_t>(place);
  roster_.pods[index] += entity.pods;
  if (event == QueueEvent::kUncounted) return;
  roster_.entries[index][static_cast<std::size_t>(event)] += entity.pods;
}

void EntityQueue::leave(Entity& entity) {
  entity.borrows_at.reset();
  switch (entity.place) {
    case QueuePlace::kNone:
      return;
    case QueuePlace::kActive:
      if (active_.erase(entity.order) == 0) put_off_.erase(entity.order);
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
      roster_.refused.remove(entity);
      roster_.timers.stop(entity);
      break;
    case QueuePlace::kGated:
      break;
  }
  roster_.pods[static_cast<std::size_t>(entity.place)] -= entity.pods;
  entity.place = QueuePlace::kNone;
}

Entity* EntityQueue::head() const {
  Entity* active = active_.empty() ? nullptr : active_.begin()->second;
  Entity* parked = parked_.first_to_check();
  if (parked == nullptr) return active;
  return active != nullptr && active->order < parked->order ? active : parked;
}

void EntityQueue::put_off(const Entity& head) {
  if (head.place == QueuePlace::kParked) return parked_.put_off(head);
  put_off_.insert(active_.extract(head.order));
}

void EntityQueue::next_round() {
  active_.merge(put_off_);
  parked_.next_round();
}

void EntityQueue::rejoin(const Entity& entity) {
  for (Entity* alike : parked_.group_of(entity)) activate(*alike, QueueEvent::kQuotaChange);
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
  // A parked entity that waits for its turn is checked when it has become the first.
  if (first != nullptr && first != before && first->place == QueuePlace::kParked) {
    parked_.check_group_of(*first, kWaitsForTurn);
  }
}

}  // namespace sched
