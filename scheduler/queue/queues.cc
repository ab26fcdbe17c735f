#include "scheduler/queue/queues.h"

#include <algorithm>
#include <utility>

namespace sched {

void Queues::remove(Entity& entity) {
  if (entity.place == QueuePlace::kNone) return;
  touch(entity.queue).remove(entity);
  entities_.back()->index = entity.index;
  entities_[entity.index] = entities_.back();
  entities_.pop_back();
  if (entity.queue == kMainQueue) return;
  std::erase(borrowing_, &entity);
  ++version_;
  // The pointer must not stay: the entity may come back with other values, or another entity may
  // get its address.
  Slot& slot = slots_.find(entity.queue)->second;
  if (slot.ranked == &entity) slot.ranked = nullptr;
}

void Queues::move(Entity& entity, QueueId to) {
  if (entity.queue == to) return;
  const QueuePlace place = entity.place;
  const Time ready_at = entity.ready_at;
  remove(entity);
  entity.queue = to;
  switch (place) {
    case QueuePlace::kNone:
      return;
    case QueuePlace::kBackoff:
      return back_off(entity, ready_at, QueueEvent::kQuotaChange);
    case QueuePlace::kGated:
      return gate(entity, QueueEvent::kQuotaChange);
    case QueuePlace::kActive:
    case QueuePlace::kParked:
    case QueuePlace::kRefused:
      return activate(entity, QueueEvent::kQuotaChange);
  }
}

bool Queues::comes_first(const Entity& head, const quota::Standing& at) {
  const Arbiter::Turn turn{.standing = at, .head = head.order, .queue = head.queue};
  const Arbiter::Turn* other = arbiter_.first_but(head.queue);
  if (other != nullptr && *other < turn) return false;
  const auto called =
      borrowers_.first([this](quota::PoolId pool) { return accounts_.lends(pool); });
  return !called || compare(at, called->standing) < 0;
}

void Queues::borrows_at(Entity& head, const quota::Standing& at) {
  if (std::find(borrowing_.begin(), borrowing_.end(), &head) == borrowing_.end()) {
    borrowing_.push_back(&head);
  }
  head.borrows_at = at;
  Slot& slot = slots_.find(head.queue)->second;
  slot.ranked = nullptr;
  mark(head.queue, slot);
}

void Queues::forget_borrowing(std::optional<QueueId> queue) {
  std::erase_if(borrowing_, [&](Entity* entity) {
    if (queue && entity->queue != *queue) return false;
    if (std::exchange(entity->borrows_at, std::nullopt)) touch(entity->queue);
    return true;
  });
}

std::size_t Queues::activate_woken(std::size_t most) {
  std::size_t number = 0;
  for (; number < most; ++number) {
    Entity* const entity = roster_.refused.next_woken();
    if (entity == nullptr) break;
    touch(entity->queue).activate(*entity, QueueEvent::kObjectChange);
  }
  return number;
}

std::size_t Queues::check_some_for_others(const Changes& changes, std::size_t most) {
  std::size_t kinds = 0;
  for (std::size_t asked = 0; asked <= slots_.size() && kinds < most; ++asked) {
    const QueueId id = next_for_others_;
    const auto behind = slots_.upper_bound(id);
    next_for_others_ = behind == slots_.end() ? kMainQueue : behind->first;
    const EntityQueue* queue = find(id);
    if ((queue->asleep() & kWaitsForOthers) == 0) continue;
    kinds += touch(id).check_some_for_others(changes, most);
  }
  return kinds;
}

void Queues::nodes_opened(const NodeRoom& free) {
  ++roster_.changes.nodes;
  forget_borrowing();
  main_.check_parked_for_nodes(free);
  refresh();
  // Whatever `free` is: a node may be held for an entity of a quota, and then has more room for it
  // than for others.
  for (const QueueId id : wait_for_nodes_) touch(id).check_parked(kWaitsForNodes);
}

void Queues::advance(Time now) {
  while (Entity* entity = roster_.timers.due(now)) {
    const bool backed_off = entity->place == QueuePlace::kBackoff;
    touch(entity->queue)
        .activate(*entity,
                  backed_off ? QueueEvent::kBackoffComplete : QueueEvent::kUnschedulableTimeout);
    entity->last_refusal.clear();
  }
}

void Queues::account_changed(QueueId queue) {
  const auto found = slots_.find(queue);
  if (found == slots_.end()) return;
  found->second.account_changed = true;
  mark(queue, found->second);
  forget_borrowing(queue);
}

void Queues::quota_opened(QueueId queue) {
  if (slots_.contains(queue)) touch(queue).check_parked(kWaitsForQuota);
  forget_borrowing(queue);
}

void Queues::pool_opened(quota::PoolId pool) {
  // A queue that was refused a moment ago must be among those that are called.
  refresh();
  borrowers_.opened(pool);
  forget_borrowing();
}

void Queues::quotas_changed() {
  borrowers_ = {};
  forget_borrowing();
  for (auto& [id, slot] : slots_) {
    slot.queue.check_parked(kWaitsForQuota | kWaitsForTurn);
    slot.account_changed = true;
    mark(id, slot);
  }
}

Entity* Queues::next() {
  for (;;) {
    if (any_put_off_ && turns_since_ >= kTurnsOfOthers) next_round();
    Entity* const head = first_head();
    if (head == nullptr) {
      if (!next_round()) return nullptr;
      continue;
    }
    if (has_used_its_round(*head)) {
      touch(head->queue).put_off(*head);
      if (!std::exchange(any_put_off_, true)) turns_since_ = 0;
      continue;
    }
    ++turns_since_;
    tenant_ = head->tenant;
    searched_before_ = accounts_.searched();
    if (head->place != QueuePlace::kParked) return head;
    const std::optional<WaitsFor> waits_for = accounts_.obstacle(*head);
    if (!waits_for) return head;
    turn_is_over();
    head->borrows_at.reset();
    touch(head->queue).settle(*head, *waits_for);
  }
}

void Queues::turn_is_over() {
  const std::uint64_t nodes = accounts_.searched() - searched_before_;
  if (nodes > 0) searched_[tenant_] += nodes;
}

bool Queues::has_used_its_round(const Entity& entity) const {
  if (searched_.empty()) return false;
  const auto found = searched_.find(entity.tenant);
  return found != searched_.end() && found->second >= kSearchedInRound;
}

bool Queues::next_round() {
  searched_.clear();
  if (!std::exchange(any_put_off_, false)) return false;
  main_.next_round();
  for (auto& [id, slot] : slots_) {
    slot.queue.next_round();
    mark(id, slot);
  }
  return true;
}

Entity* Queues::first_head() {
  Entity* const main = main_.head();
  if (slots_.empty() || (main_first_ && main != nullptr)) return main;
  refresh();
  call_borrowers();
  const Arbiter::Turn* first = arbiter_.first();
  return first == nullptr ? main : slots_.find(first->queue)->second.queue.head();
}

void Queues::call_borrowers() {
  const auto lends = [this](quota::PoolId pool) { return accounts_.lends(pool); };
  while (const auto called = borrowers_.first(lends)) {
    const Arbiter::Turn* first = arbiter_.first();
    if (first != nullptr && compare(first->standing, called->standing) < 0) return;
    borrowers_.leave(called->queue);
    touch(called->queue).check_parked(kWaitsForQuota);
    refresh();
  }
}

void Queues::refresh() {
  while (!touched_.empty()) {
    const QueueId id = touched_.back();
    touched_.pop_back();
    refresh(id, slots_.find(id)->second);
  }
}

void Queues::refresh(QueueId id, Slot& slot) {
  slot.touched = false;
  note_asleep(id, slot);
  if (put_to_sleep_again(slot.queue)) note_asleep(id, slot);
  const Entity* head = slot.queue.head();
  if (head == nullptr) {
    arbiter_.drop(id);
  } else if (head != slot.ranked || head->borrows_at.has_value() != slot.ranked_to_borrow ||
             slot.account_changed) {
    arbiter_.set({.standing = standing(*head), .head = head->order, .queue = id});
  }
  slot.ranked = head;
  slot.ranked_to_borrow = head != nullptr && head->borrows_at.has_value();
  slot.account_changed = false;
}

quota::Standing Queues::standing(const Entity& head) const {
  const bool is_apart = head.place == QueuePlace::kParked && head.apart.any();
  return is_apart && !head.borrows_at ? quota::Standing{} : accounts_.standing(head);
}

void Queues::note_asleep(QueueId id, Slot& slot) {
  const WaitsFor asleep = slot.queue.asleep();
  if ((asleep & kWaitsForNodes) != 0) {
    wait_for_nodes_.insert(id);
  } else {
    wait_for_nodes_.erase(id);
  }
  refresh_borrower(id, slot, asleep);
  slot.asleep = asleep;
}

bool Queues::put_to_sleep_again(EntityQueue& queue) {
  for (bool any = false;; any = true) {
    Entity* const head = queue.head();
    if (head == nullptr || head->place != QueuePlace::kParked) return any;
    const std::optional<WaitsFor> waits_for = accounts_.known_obstacle(*head);
    if (!waits_for) return any;
    head->borrows_at.reset();
    queue.settle(*head, *waits_for);
  }
}

void Queues::refresh_borrower(QueueId id, Slot& slot, WaitsFor asleep) {
  const bool waits = borrowers_.waits(id);
  if ((asleep & kWaitsForQuota) == 0) {
    if (waits) borrowers_.leave(id);
    return;
  }
  if (!slot.account_changed && asleep == slot.asleep) return;
  std::vector<quota::InPool> pools = accounts_.in_pools(id);
  // A queue that waits for nodes, too, may be within its guarantee on some of them.
  if ((asleep & kWaitsForNodes) != 0) {
    for (quota::InPool& each : pools) each.standing = {};
  }
  if (waits) {
    borrowers_.moved(id, pools);
  } else {
    borrowers_.wait(id, std::move(pools));
  }
}

EntityQueue& Queues::touch(QueueId id) {
  if (id == kMainQueue) return main_;
  Slot& slot = slots_.try_emplace(id, roster_).first->second;
  mark(id, slot);
  return slot.queue;
}

std::vector<QueueId> Queues::take_changed_lines() {
  std::vector<QueueId> changed;
  for (const QueueId id : std::exchange(lines_touched_, {})) {
    Slot& slot = slots_.find(id)->second;
    slot.line_touched = false;
    const std::uint64_t version = slot.queue.line().version();
    if (std::exchange(slot.line_told, version) != version) changed.push_back(id);
  }
  return changed;
}

void Queues::mark(QueueId id, Slot& slot) {
  if (!std::exchange(slot.line_touched, true)) lines_touched_.push_back(id);
  if (slot.touched) return;
  slot.touched = true;
  touched_.push_back(id);
}

const EntityQueue* Queues::find(QueueId id) const {
  if (id == kMainQueue) return &main_;
  const auto found = slots_.find(id);
  return found == slots_.end() ? nullptr : &found->second.queue;
}

EntityQueue& Queues::entered(Entity& entity) {
  if (entity.place == QueuePlace::kNone) {
    entity.index = entities_.size();
    entities_.push_back(&entity);
  }
  if (entity.queue != kMainQueue) ++version_;
  return touch(entity.queue);
}

}  // namespace sched
