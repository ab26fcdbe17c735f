#include "scheduler/queue/borrowers.h"

#include <algorithm>
#include <utility>

namespace sched {

void Borrowers::wait(QueueId queue, std::vector<quota::InPool> pools) {
  leave(queue);
  if (pools.empty()) return;
  for (const quota::InPool& each : pools) pools_[each.pool].in_vain.insert(queue);
  members_[queue] = std::move(pools);
}

void Borrowers::moved(QueueId queue, const std::vector<quota::InPool>& pools) {
  for (quota::InPool& known : members_.find(queue)->second) {
    const auto now = std::find_if(pools.begin(), pools.end(), [&](const quota::InPool& each) {
      return each.pool == known.pool;
    });
    if (now == pools.end()) continue;
    std::set<Turn>& ready = pools_[known.pool].ready;
    if (ready.erase({known.standing, queue}) > 0) ready.insert({now->standing, queue});
    known.standing = now->standing;
  }
}

void Borrowers::leave(QueueId queue) {
  const auto found = members_.find(queue);
  if (found == members_.end()) return;
  for (const quota::InPool& each : found->second) {
    Pool& pool = pools_[each.pool];
    pool.ready.erase({each.standing, queue});
    pool.in_vain.erase(queue);
  }
  members_.erase(found);
}

void Borrowers::opened(quota::PoolId id) {
  Pool& pool = pools_[id];
  for (const QueueId queue : pool.in_vain) {
    for (const quota::InPool& each : members_.find(queue)->second) {
      if (each.pool == id) pool.ready.insert({each.standing, queue});
    }
  }
  pool.in_vain.clear();
  open_.insert(id);
}

}  // namespace sched
