// Quotas whose entities wait to borrow, by the pools of what their cohorts lend, in the order of
// their turns.
//
// When a pool has more to lend, they are called one after another, until it has nothing left: as
// many as the room can help are looked at, and the others of the cohort cost nothing. One that was
// called and found that it cannot use the room (its entities ask for more, or no node fits) is
// called again when there is more.
#pragma once

#include "scheduler/queue/entity.h"
#include "scheduler/quota/line.h"
#include "scheduler/quota/standing.h"

#include <map>
#include <optional>
#include <set>
#include <vector>

namespace sched {

class Borrowers {
 public:
  // Where a quota that waits to borrow stands in a pool.
  struct Turn {
    quota::Standing standing;
    QueueId queue = kMainQueue;
    friend bool operator<(const Turn& a, const Turn& b) {
      const int order = compare(a.standing, b.standing);
      return order != 0 ? order < 0 : a.queue < b.queue;
    }
  };

  // The quota waits for more of these pools from now on, having been refused by all just now.
  void wait(QueueId queue, std::vector<quota::InPool> pools);
  // It stands otherwise than it did, in those of its pools that are named.
  void moved(QueueId queue, const std::vector<quota::InPool>& pools);
  void leave(QueueId queue);
  [[nodiscard]] bool waits(QueueId queue) const { return members_.contains(queue); }

  // The pool has more to lend than it had.
  void opened(quota::PoolId pool);
  // Whose turn it is to be called, of pools where `lends(pool)`; nullopt: nobody's. Whoever is
  // called leaves.
  template <typename Lends>
  [[nodiscard]] std::optional<Turn> first(Lends&& lends) {
    std::optional<Turn> best;
    for (auto each = open_.begin(); each != open_.end();) {
      const std::set<Turn>& ready = pools_[*each].ready;
      if (ready.empty() || !lends(*each)) {
        each = open_.erase(each);
        continue;
      }
      if (!best || *ready.begin() < *best) best = *ready.begin();
      ++each;
    }
    return best;
  }

 private:
  struct Pool {
    std::set<Turn> ready;       // to be called when it has something to lend
    std::set<QueueId> in_vain;  // refused since it opened last
  };
  std::map<QueueId, std::vector<quota::InPool>> members_;
  std::map<quota::PoolId, Pool> pools_;
  std::set<quota::PoolId> open_;
};

}  // namespace sched
