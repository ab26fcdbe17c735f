// All entities that wait for a turn: one queue for each quota, and the main queue for pods without
// quota.
//
// Inside a queue entities are ordered by priority, then age. Between queues the turn goes to the
// queue that stands first now (arbiter.h). Only the entity with the next turn is checked for room.
// Of the quotas that wait to borrow, only as many are checked as the pool has something to lend for
// (borrowers.h).
//
// A pod that asks for something new costs a search over all nodes, so a tenant with thousands of
// different pods, of whatever priority, could keep all others from their turns for minutes. So
// turns are given in rounds: once the searches for a tenant (a namespace) have looked at
// kSearchedInRound nodes, its other entities are put off until no other tenant has an entity with a
// turn in this round, or the others have had kTurnsOfOthers turns.
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
#include <unordered_map>
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

  // As EntityQueue's functions, on the queue that the entity belongs to.
  void activate(Entity& entity, QueueEvent event = QueueEvent::kPodAdd) {
    entered(entity).activate(entity, event);
  }
  void back_off(Entity& entity, Time until, QueueEvent event = QueueEvent::kAttemptFailure) {
    entered(entity).back_off(entity, until, event);
  }
  void park(Entity& entity, const Apart& apart, WaitsFor waits_for, Time try_anew_at,
            QueueEvent event = QueueEvent::kAttemptFailure) {
    entered(entity).park(entity, apart, waits_for, try_anew_at, event);
  }
  void refuse(Entity& entity, std::vector<ObjectKey> awaits, Time try_anew_at,
              QueueEvent event = QueueEvent::kAttemptFailure) {
    entered(entity).refuse(entity, std::move(awaits), try_anew_at, event);
  }
  void gate(Entity& entity, QueueEvent event = QueueEvent::kPodAdd) {
    entered(entity).gate(entity, event);
  }
  void rejoin(const Entity& entity) { touch(entity.queue).rejoin(entity); }
  void remove(Entity& entity);

  // Moves a waiting entity to another queue. It may wait for something else there, so it becomes
  // active; only a back-off and a gate are kept.
  void move(Entity& entity, QueueId to);

  // `head` has the next turn. Whether it would still have it if its quota stood at `at`.
  [[nodiscard]] bool comes_first(const Entity& head, const quota::Standing& at);
  // `head` has the next turn, but the nodes with room would make it borrow, and its quota would
  // stand at `at` then: others come first. From now on its quota stands there, until the entity is
  // put elsewhere, its quota's account changes, or something opens.
  void borrows_at(Entity& head, const quota::Standing& at);

  // Refused entities that wait for the object, or for any of its kind, are woken: activate_woken()
  // makes them active.
  void wake(const ObjectKey& changed) { roster_.refused.wake(changed); }
  [[nodiscard]] bool any_refused() const { return roster_.refused.any_waits(); }
  [[nodiscard]] bool any_woken() const { return roster_.refused.any_woken(); }
  // Returns how many became active. `most`: at most so many, tenant by tenant, round robin.
  // O(their number · log entities).
  std::size_t activate_woken(std::size_t most);
  // Parked entities may have room on nodes; no node has more free than `free`. Those that wait for
  // others are checked only by check_some_for_others(). O(queues with such entities + kinds of pods
  // without quota).
  void nodes_opened(const NodeRoom& free);
  // Facts of nodes have changed, or nodes are new: entities that wait for that may have room there,
  // now or after a pod ends. O(kinds that wait for that).
  void facts_changed() { main_.check_parked(kWaitsForFacts); }
  // Parked entities that wait for others may have room. check_some_for_others() checks them.
  void others_changed() { ++roster_.changes.others; }
  [[nodiscard]] const Changes& changes() const { return roster_.changes; }
  // Whether some entity may wait for others.
  [[nodiscard]] bool any_waits_for_others() const { return roster_.apart > 0; }
  // Marks for a check some kinds of entities that wait for others and were not checked since
  // `changes`, queue by queue, round robin. Returns how many. `most`: at most so many of one queue
  // for each sort of change; it stops after the queue in which the total reaches it.
  // O(queues + kinds).
  std::size_t check_some_for_others(const Changes& changes, std::size_t most);
  // Entities become active when their waiting time is over.
  void advance(Time now);
  // When advance() will next have something to do; nullopt: never.
  [[nodiscard]] std::optional<Time> next_deadline() const { return roster_.timers.next(); }

  // Changes of the quotas. The account of that quota has changed.
  void account_changed(QueueId queue);
  // The quota has more room than before: its parked entities that wait for quota may have room.
  void quota_opened(QueueId queue);
  // The pool has more to lend than before.
  void pool_opened(quota::PoolId pool);
  // Anything may have changed, even the numbers of the pools.
  void quotas_changed();

  // How many pods, by place.
  [[nodiscard]] std::size_t active() const { return roster_.in(QueuePlace::kActive); }
  [[nodiscard]] std::size_t backoff() const { return roster_.in(QueuePlace::kBackoff); }
  [[nodiscard]] std::size_t unschedulable() const {
    return roster_.in(QueuePlace::kParked) + roster_.in(QueuePlace::kRefused);
  }
  [[nodiscard]] std::size_t gated() const { return roster_.in(QueuePlace::kGated); }
  [[nodiscard]] const QueueEntries& entries() const { return roster_.entries; }
  // As EntityQueue's function.
  [[nodiscard]] WaitsFor waits_for(const Entity& parked) const {
    return find(parked.queue)->waits_for(parked);
  }

  // The entity that has the next turn; null: none. It stays where it is until it is put elsewhere.
  // Parked entities are checked for room only when they would come first.
  [[nodiscard]] Entity* next();
  // The turn that next() gave is over: what it has searched is charged to the entity's tenant.
  void turn_is_over();

  // Nodes that searches may look at for one tenant in a round while others wait; the search in
  // which the limit is reached is finished. Large enough that it is reached only in very large
  // clusters, or by pods that differ on purpose.
  static constexpr std::uint64_t kSearchedInRound = 500'000;
  // The round ends at the latest so many turns after the first entity was put off. So tenants with
  // queues that never get empty do not keep it waiting for ever.
  static constexpr std::size_t kTurnsOfOthers = 1'000;

  // The queue of that number; null: no entity has been in it yet.
  [[nodiscard]] const EntityQueue* find(QueueId id) const;
  // Calls visit(id, queue) for all but the main one.
  template <typename Visit>
  void for_each_quota(Visit&& visit) const {
    for (const auto& [id, slot] : slots_) visit(id, slot.queue);
  }
  // All entities that wait, in no order.
  [[nodiscard]] const std::vector<Entity*>& entities() const { return entities_; }
  // Grows when an entity enters, leaves or takes another place in a quota's queue. Exception:
  // advance(), which changes no line.
  [[nodiscard]] std::uint64_t version() const { return version_; }
  // The queues with lines that have changed since the last call. O(queues that were touched).
  [[nodiscard]] std::vector<QueueId> take_changed_lines();

 private:
  struct Slot {
    explicit Slot(Roster& roster) : queue(roster, true) {}
    EntityQueue queue;
    const Entity* ranked = nullptr;  // the head that its standing in arbiter_ is for
    bool ranked_to_borrow = false;   // whether that head had `borrows_at` then
    WaitsFor asleep = 0;             // what its entities waited for at that time
    bool touched = false;            // the head or `asleep` may have changed
    bool account_changed = false;
    std::uint64_t line_told = 0;  // the line's version when take_changed_lines() last returned it
    bool line_touched = false;    // the line may have changed since
  };
  // The queue, created if it does not exist, which is about to change.
  EntityQueue& touch(QueueId id);
  void mark(QueueId id, Slot& slot);
  EntityQueue& entered(Entity& entity);
  // Resets Entity::borrows_at of that queue's entities, or of all.
  void forget_borrowing(std::optional<QueueId> queue = {});
  // Brings what is kept of the touched queues up to date.
  void refresh();
  void refresh(QueueId id, Slot& slot);
  // Where the head's quota stands. A parked entity that is not in line because of its rules is
  // looked at first: it most often has no room, and those behind it may stand better than it. If it
  // has room and must borrow, borrows_at() is called for it.
  [[nodiscard]] quota::Standing standing(const Entity& head) const;
  // Brings up to date what is kept of what the queue's entities wait for.
  void note_asleep(QueueId id, Slot& slot);
  // The queue's first entities sleep again if they are known to have no room: they need no turn,
  // and their quota's standing with each of them need not be computed. Whether there were any.
  bool put_to_sleep_again(EntityQueue& queue);
  void refresh_borrower(QueueId id, Slot& slot, WaitsFor asleep);
  [[nodiscard]] Entity* first_head();
  // Whether searches for the entity's tenant have looked at kSearchedInRound nodes in this round.
  [[nodiscard]] bool has_used_its_round(const Entity& entity) const;
  // False: nothing was put off.
  bool next_round();
  // Marks for a check the quotas that may borrow and would have their turn before every other
  // queue's head.
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
  std::vector<Entity*> borrowing_;  // those with `borrows_at`, and some that had it
  std::set<QueueId> wait_for_nodes_;
  QueueId next_for_others_ = kMainQueue;  // where check_some_for_others() continues
  std::vector<Entity*> entities_;
  std::uint64_t version_ = 0;

  // The present round: the nodes looked at, by tenant; whether anything is put off.
  std::unordered_map<std::uint64_t, std::uint64_t> searched_;
  bool any_put_off_ = false;
  std::size_t turns_since_ = 0;  // the first entity was put off
  // Of the last turn: its tenant, and Accounts::searched() when it began.
  std::uint64_t tenant_ = 0;
  std::uint64_t searched_before_ = 0;
};

}  // namespace sched
