#include "scheduler/queue/borrowers.h"

namespace sched {

void Borrowers::wait(const Turn& turn, const std::vector<quota::PoolId>& pools) {
  leave(turn.queue);
  if (pools.empty()) return;
  members_[turn.queue] = {turn, pools};
  for (const quota::PoolId pool : pools) pools_[pool].in_vain.insert(turn.queue);
}

void Borrowers::moved(const Turn& turn) {
  Member& member = members_.find(turn.queue)->second;
  for (const quota::PoolId id : member.pools) {
    Pool& pool = pools_[id];
    if (pool.ready.erase(member.turn) > 0) pool.ready.insert(turn);
  }
  member.turn = turn;
}

void Borrowers::leave(QueueId queue) {
  const auto found = members_.find(queue);
  if (found == members_.end()) return;
  for (const quota::PoolId id : found->second.pools) {
    Pool& pool = pools_[id];
    pool.ready.erase(found->second.turn);
    pool.in_vain.erase(queue);
  }
  members_.erase(found);
}

void Borrowers::opened(quota::PoolId id) {
  Pool& pool = pools_[id];
  for (const QueueId queue : pool.in_vain) pool.ready.insert(members_.find(queue)->second.turn);
  pool.in_vain.clear();
  open_.insert(id);
}

}  // namespace sched
