// Whose turn it is between the queues of quotas: where each stands with the entity that is next in
// it.
//
// A standing is worked out when a queue has another head or when its quota's account has changed,
// and kept in order meanwhile. So what is charged to one quota of a hundred costs one standing and
// O(log quotas), however often it is asked whose turn it is.
#pragma once

#include "scheduler/queue/entity.h"
#include "scheduler/quota/standing.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>

namespace sched {

class Arbiter {
 public:
  struct Turn {
    quota::Standing standing;
    QueueOrder head;  // of equals the first in order has its turn
    QueueId queue = kMainQueue;
    friend bool operator<(const Turn& a, const Turn& b) {
      const int order = compare(a.standing, b.standing);
      if (order != 0) return order < 0;
      // An entity that has just moved may be the head of both, until the one that it left is told.
      if (!(a.head == b.head)) return a.head < b.head;
      return a.queue < b.queue;
    }
  };

  // That queue stands so from now on. O(log queues).
  void set(const Turn& turn) {
    drop(turn.queue);
    by_queue_.emplace(turn.queue, turns_.insert(turn).first);
  }
  // It has nobody.
  void drop(QueueId queue) {
    const auto known = by_queue_.find(queue);
    if (known == by_queue_.end()) return;
    turns_.erase(known->second);
    by_queue_.erase(known);
  }
  // Null: nobody has a turn.
  [[nodiscard]] const Turn* first() const { return turns_.empty() ? nullptr : &*turns_.begin(); }

 private:
  std::set<Turn> turns_;
  std::map<QueueId, std::set<Turn>::const_iterator> by_queue_;
};

}  // namespace sched
