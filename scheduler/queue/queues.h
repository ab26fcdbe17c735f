// All that wait for a turn: one queue for each quota, and the main queue for those without.
//
// Inside a queue entities wait by priority, then age. Between queues the turn goes to whoever
// stands first now (arbiter.h). Only the entity whose turn it would be is asked whether it has
// room, and of those that wait to borrow only as many as there is something to lend for
// (borrowers.h).
//
// What is kept of a queue between turns (its standing, whether it waits for nodes or to borrow) is
// brought up to date when it is next needed, for the queues that were touched since.
#pragma once

#include "scheduler/queue/accounts.h"
#include "scheduler/queue/arbiter.h"
#include "scheduler/queue/borrowers.h"
#include "scheduler/queue/entity_queue.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace sched {

class Queues {
 public:
  // `accounts` outlives the queues. `main_first`: pods without quota have their turn before those
  // of quotas, else after.
  explicit Queues(Accounts& accounts, bool main_first = false)
      : accounts_(accounts), main_first_(main_first) {}
  Queues(const Queues&) = delete;
  Queues& operator=(const Queues&) = delete;

  // As EntityQueue's, on the queue that the entity belongs to.
  void activate(Entity& entity) { entered(entity).activate(entity); }
  void back_off(Entity& entity, Time until) { entered(entity).back_off(entity, until); }
  void park(Entity& entity, const Apart& apart, WaitsFor waits_for, Time try_anew_at) {
    entered(entity).park(entity, apart, waits_for, try_anew_at);
  }
  void refuse(Entity& entity, std::vector<ObjectKey> awaits, Time try_anew_at) {
    entered(entity).refuse(entity, std::move(awaits), try_anew_at);
  }
  void gate(Entity& entity) { entered(entity).gate(entity); }
  void rejoin(const Entity& entity) { touch(entity.queue).rejoin(entity); }
  void remove(Entity& entity);

  // The entity, which waits somewhere, belongs to another queue from now on. What it waited for
  // there need not be what it waits for here, so it has its turn again; a back-off and a gate it
  // keeps.
  void move(Entity& entity, QueueId to);

  // The entity, whose turn it is, would be within its guarantee on nodes that have no room, and
  // would borrow on others: those who are within theirs come first. Until it is put elsewhere, or
  // is parked and found to have no room.
  void must_borrow(Entity& entity);

  // Refused entities that wait for the object, or for any of its kind, become active.
  void wake(const ObjectKey& changed);
  [[nodiscard]] bool any_refused() const { return !roster_.refused.empty(); }
  // Parked entities may have room on nodes, none of which has more free than that; of those that
  // wait for others only check_some_for_others() sees to it that they are asked about. O(queues
  // with such entities + kinds of pods without quota).
  void nodes_opened(const NodeRoom& free);
  // Parked entities that wait for others may have room; the same goes for them.
  void others_changed() { ++roster_.changes.others; }
  [[nodiscard]] const Changes& changes() const { return roster_.changes; }
  // Whether some entity may wait for others.
  [[nodiscard]] bool any_waits_for_others() const { return roster_.apart > 0; }
  // Some of the kinds of entities that wait for others, and were not asked about since so many
  // changes, are to be asked about, queue by queue in a circle; how many. `most`: of one queue, for
  // each sort of change, and as many in all are enough. O(queues + kinds).
  std::size_t check_some_for_others(const Changes& changes, std::size_t most);
  // Entities whose waiting time is over become active.
  void advance(Time now);
  // When advance() will next have something to do; nullopt: never.
  [[nodiscard]] std::optional<Time> next_deadline() const { return roster_.timers.next(); }

  // News of the quotas. The account of that one is another.
  void account_changed(QueueId queue);
  // It has more room than before: its parked entities that wait for quota may have some.
  void quota_opened(QueueId queue);
  // That pool has more to lend than before.
  void pool_opened(quota::PoolId pool);
  // Nothing need be as it was, the pools' numbers included.
  void quotas_changed();

  // How many pods, by place.
  [[nodiscard]] std::size_t active() const { return roster_.in(QueuePlace::kActive); }
  [[nodiscard]] std::size_t backoff() const { return roster_.in(QueuePlace::kBackoff); }
  [[nodiscard]] std::size_t unschedulable() const {
    return roster_.in(QueuePlace::kParked) + roster_.in(QueuePlace::kRefused);
  }
  [[nodiscard]] std::size_t gated() const { return roster_.in(QueuePlace::kGated); }

  // The entity whose turn it is; null: none. It stays where it is until it is put elsewhere. Parked
  // entities are asked about only when they would come first.
  [[nodiscard]] Entity* next();

  // The queue of that number; null: nobody has been in it yet.
  [[nodiscard]] const EntityQueue* find(QueueId id) const;
  // Calls visit(id, queue) for all but the main one.
  template <typename Visit>
  void for_each_quota(Visit&& visit) const {
    for (const auto& [id, slot] : slots_) visit(id, slot.queue);
  }
  // All entities that wait somewhere, in no order.
  [[nodiscard]] const std::vector<Entity*>& entities() const { return entities_; }
  // Grows when an entity enters, leaves, or takes another place in a queue that is not the main
  // one; not in advance(), by which no line changes.
  [[nodiscard]] std::uint64_t version() const { return version_; }
  // The queues whose lines have changed since this was last asked. O(queues that were touched).
  [[nodiscard]] std::vector<QueueId> take_changed_lines();

 private:
  struct Slot {
    explicit Slot(Roster& roster) : queue(roster, true) {}
    EntityQueue queue;
    const Entity* ranked = nullptr;  // the head that its turn is kept for
    bool ranked_to_borrow = false;   // the head's must_borrow then
    WaitsFor asleep = 0;             // what its entities waited for then
    bool touched = false;            // either may have changed
    bool account_changed = false;
    std::uint64_t line_told = 0;  // the line's version
    bool line_touched = false;    // it may have changed since
  };
  // The queue, made if need be, of which something is about to change.
  EntityQueue& touch(QueueId id);
  void mark(QueueId id, Slot& slot);
  EntityQueue& entered(Entity& entity);
  // Brings what is kept of the touched queues up to date.
  void refresh();
  void refresh(QueueId id, Slot& slot);
  void refresh_borrower(QueueId id, Slot& slot, WaitsFor asleep);
  [[nodiscard]] Entity* first_head();
  // Those who may borrow and would have their turn before anybody else's head are worth a check.
  void call_borrowers();

  Accounts& accounts_;
  bool main_first_;
  Roster roster_;
  EntityQueue main_{roster_};
  std::map<QueueId, Slot> slots_;
  std::vector<QueueId> touched_;
  std::vector<QueueId> lines_touched_;
  Arbiter arbiter_;
  Borrowers borrowers_;
  std::set<QueueId> wait_for_nodes_;
  QueueId next_for_others_ = kMainQueue;  // to be asked by check_some_for_others()
  std::vector<Entity*> entities_;
  std::uint64_t version_ = 0;
};

}  // namespace sched
