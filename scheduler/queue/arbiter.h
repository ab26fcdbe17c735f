// Which queue has the next turn: where the quota of each queue stands with the queue's head.
//
// A standing is computed when a queue has another head or when its quota's account has changed, and
// the standings are kept sorted. So a charge to one quota of a hundred costs one standing and
// O(log quotas), however often the next turn is asked for.
#pragma once

#include "scheduler/queue/entity.h"
#include "scheduler/quota/standing.h"

#include <map>
#include <set>

namespace sched {

class Arbiter {
 public:
  struct Turn {
    quota::Standing standing;
    QueueOrder head;  // if standings are equal, the first in order has its turn
    QueueId queue = kMainQueue;
    friend bool operator<(const Turn& a, const Turn& b) {
      const int order = compare(a.standing, b.standing);
      if (order != 0) return order < 0;
      // An entity that has just moved may be the head of both queues, until set() or drop() is
      // called for the old one.
      if (!(a.head == b.head)) return a.head < b.head;
      return a.queue < b.queue;
    }
  };

  // Sets where that queue stands. O(log queues).
  void set(const Turn& turn) {
    drop(turn.queue);
    by_queue_.emplace(turn.queue, turns_.insert(turn).first);
  }
  // The queue has no entity that can take a turn. O(log queues).
  void drop(QueueId queue) {
    const auto known = by_queue_.find(queue);
    if (known == by_queue_.end()) return;
    turns_.erase(known->second);
    by_queue_.erase(known);
  }
  // Null: no queue has a turn.
  [[nodiscard]] const Turn* first() const { return turns_.empty() ? nullptr : &*turns_.begin(); }
  // The first of the other queues; null: no other has a turn.
  [[nodiscard]] const Turn* first_but(QueueId queue) const {
    auto turn = turns_.begin();
    if (turn != turns_.end() && turn->queue == queue) ++turn;
    return turn == turns_.end() ? nullptr : &*turn;
  }

 private:
  std::set<Turn> turns_;
  std::map<QueueId, std::set<Turn>::const_iterator> by_queue_;
};

}  // namespace sched
