// All pods of ours that wait: one queue for each quota, and the main queue for pods without.
//
// Inside a queue pods wait by priority, then age. Between queues the turn goes to whoever stands
// first now (arbiter.h). Only the pod whose turn it would be is asked whether it has room, and of
// those that wait to borrow only as many as there is something to lend for (borrowers.h).
//
// What is kept of a queue between turns (its standing, whether it waits for nodes or to borrow) is
// brought up to date when it is next needed, for the queues that were touched since.
#pragma once

#include "scheduler/queue/accounts.h"
#include "scheduler/queue/arbiter.h"
#include "scheduler/queue/borrowers.h"
#include "scheduler/queue/pod_queue.h"

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

  // As PodQueue's, on the queue that the pod belongs to.
  void activate(WaitingPod& pod) { entered(pod).activate(pod); }
  void back_off(WaitingPod& pod, Time until) { entered(pod).back_off(pod, until); }
  void park(WaitingPod& pod, const Apart& apart, WaitsFor waits_for, Time try_anew_at) {
    entered(pod).park(pod, apart, waits_for, try_anew_at);
  }
  void refuse(WaitingPod& pod, ChangeMask wakes_on, Time try_anew_at) {
    entered(pod).refuse(pod, wakes_on, try_anew_at);
  }
  void gate(WaitingPod& pod) { entered(pod).gate(pod); }
  void rejoin(const WaitingPod& pod) { touch(pod.queue).rejoin(pod); }
  void remove(WaitingPod& pod);

  // The pod, which waits somewhere, belongs to another queue from now on. What it waited for there
  // need not be what it waits for here, so it has its turn again; a back-off and a gate it keeps.
  void move(WaitingPod& pod, QueueId to);

  // The pod, whose turn it is, would be within its guarantee on nodes that have no room, and would
  // borrow on others: those who are within theirs come first. Until it is put elsewhere, or is
  // parked and found to have no room.
  void must_borrow(WaitingPod& pod);

  // Refused pods of all queues that wait for one of these changes become active.
  void wake(ChangeMask changes);
  // Parked pods that wait for others may have room; so many kinds of them are to be asked about.
  // O(queues + kinds).
  std::size_t others_changed();
  // Whether some pod may wait for others.
  [[nodiscard]] bool any_waits_for_others() const { return roster_.apart > 0; }
  // Parked pods may have room on nodes, none of which has more free than that. O(queues with such
  // pods + kinds of pods without quota).
  void nodes_opened(const NodeRoom& free);
  // Pods whose waiting time is over become active.
  void advance(Time now);
  // When advance() will next have something to do; nullopt: never.
  [[nodiscard]] std::optional<Time> next_deadline() const { return roster_.timers.next(); }

  // News of the quotas. The account of that one is another.
  void account_changed(QueueId queue);
  // It has more room than before: its parked pods that wait for quota may have some.
  void quota_opened(QueueId queue);
  // That pool has more to lend than before.
  void pool_opened(quota::PoolId pool);
  // Nothing need be as it was, the pools' numbers included.
  void quotas_changed();

  [[nodiscard]] std::size_t active() const { return roster_.in(QueuePlace::kActive); }
  [[nodiscard]] std::size_t backoff() const { return roster_.in(QueuePlace::kBackoff); }
  [[nodiscard]] std::size_t unschedulable() const {
    return roster_.in(QueuePlace::kParked) + roster_.in(QueuePlace::kRefused);
  }
  [[nodiscard]] std::size_t gated() const { return roster_.in(QueuePlace::kGated); }

  // The pod whose turn it is; null: none. It stays where it is until it is put elsewhere. Parked
  // pods are asked about only when they would come first.
  [[nodiscard]] WaitingPod* next();

  // The queue of that number; null: nobody has been in it yet.
  [[nodiscard]] const PodQueue* find(QueueId id) const;
  // Calls visit(id, queue) for all but the main one.
  template <typename Visit>
  void for_each_quota(Visit&& visit) const {
    for (const auto& [id, slot] : slots_) visit(id, slot.queue);
  }
  // All pods that wait somewhere, in no order.
  [[nodiscard]] const std::vector<WaitingPod*>& pods() const { return pods_; }
  // Grows when a pod enters, leaves, or takes another place in a queue that is not the main one;
  // not in advance(), by which no line changes.
  [[nodiscard]] std::uint64_t version() const { return version_; }
  // The queues whose lines have changed since this was last asked. O(queues that were touched).
  [[nodiscard]] std::vector<QueueId> take_changed_lines();

 private:
  struct Slot {
    explicit Slot(Roster& roster) : queue(roster, true) {}
    PodQueue queue;
    const WaitingPod* ranked = nullptr;  // the head that its turn is kept for
    bool ranked_to_borrow = false;       // the head's must_borrow then
    WaitsFor asleep = 0;                 // what its pods waited for then
    bool touched = false;                // either may have changed
    bool account_changed = false;
    std::uint64_t line_told = 0;  // the line's version
    bool line_touched = false;    // it may have changed since
  };
  // The queue, made if need be, of which something is about to change.
  PodQueue& touch(QueueId id);
  void mark(QueueId id, Slot& slot);
  PodQueue& entered(WaitingPod& pod);
  // Brings what is kept of the touched queues up to date.
  void refresh();
  void refresh(QueueId id, Slot& slot);
  void refresh_borrower(QueueId id, Slot& slot, WaitsFor asleep);
  [[nodiscard]] WaitingPod* first_head();
  // Those who may borrow and would have their turn before anybody else's head are worth a check.
  void call_borrowers();

  Accounts& accounts_;
  bool main_first_;
  Roster roster_;
  PodQueue main_{roster_};
  std::map<QueueId, Slot> slots_;
  std::vector<QueueId> touched_;
  std::vector<QueueId> lines_touched_;
  Arbiter arbiter_;
  Borrowers borrowers_;
  std::set<QueueId> wait_for_nodes_;
  std::vector<WaitingPod*> pods_;
  std::uint64_t version_ = 0;
};

}  // namespace sched
