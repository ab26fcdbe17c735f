// Quotas with entities that wait to borrow, by pool of lendable quota, in the order of their turns.
//
// When a pool has more to lend, its quotas are called one after another until nothing is left to
// lend. So only as many quotas are checked as the room suffices for; the others of the cohort cost
// nothing. A quota that was called and cannot use the room (its entities ask for more, or no node
// fits) is called again when the pool has more.
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

  // From now on the quota waits for more of these pools. All of them have just refused it.
  void wait(QueueId queue, std::vector<quota::InPool> pools);
  // The quota's standing has changed in those of its pools that are named.
  void moved(QueueId queue, const std::vector<quota::InPool>& pools);
  void leave(QueueId queue);
  [[nodiscard]] bool waits(QueueId queue) const { return members_.contains(queue); }

  // The pool has more to lend than it had.
  void opened(quota::PoolId pool);
  // The quota to call next, among pools where `lends(pool)`; nullopt: none. The caller then calls
  // leave() for it.
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
    std::set<Turn> ready;       // called when the pool has something to lend
    std::set<QueueId> in_vain;  // refused since the pool last had more to lend
  };
  std::map<QueueId, std::vector<quota::InPool>> members_;
  std::map<quota::PoolId, Pool> pools_;
  std::set<quota::PoolId> open_;
};

}  // namespace sched
