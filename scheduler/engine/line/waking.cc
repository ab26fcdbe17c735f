#include "scheduler/engine/line/waking.h"

#include "scheduler/engine/line/quota_search.h"

#include <algorithm>
#include <vector>

namespace sched {

using quota::QuotaId;

void Waking::cluster_changed(const ClusterChange& change, bool news) {
  const bool lifts_some = world_.tell_constraints(change);
  if (!news) return;
  if (lifts_some) queue_.wake(kind_of(change));
  others_changed_ = true;
}

void Waking::assumed(WaitingPod& waiting, const std::string& node) {
  // Only for the call: until the bind went through, the pod itself has no node.
  waiting.pod.spec.node_name = node;
  cluster_changed(BoundPodUpserted{waiting.pod});
  waiting.pod.spec.node_name.clear();
}

void Waking::wake_for_nodes(Time now) {
  if (openings_seen_ != world_.nodes.openings()) {
    openings_seen_ = world_.nodes.openings();
    NodeRoom free;
    world_.nodes.changes().since(nodes_seen_, [&](NodeSlot slot) {
      if (world_.nodes.present(slot)) free.widen(world_.nodes.view(slot));
    });
    nodes_seen_ = world_.nodes.changes().end();
    queue_.nodes_opened(free);
  }
  if (!others_changed_ || now < next_look_for_others_) return;
  others_changed_ = false;
  if (!queue_.any_waits_for_others()) return;
  const auto kinds = static_cast<std::chrono::milliseconds::rep>(queue_.others_changed());
  next_look_for_others_ = now + std::max<Time::duration>(kBetweenLooks, kinds * kForEachKind);
}

std::optional<Time> Waking::next() const {
  if (!others_changed_ || !queue_.any_waits_for_others()) return std::nullopt;
  return next_look_for_others_;
}

void Waking::wake_for_quota(Time now) {
  if (world_.ledger.forget_deleted(now)) requeue_by_quota();
  if (!world_.ledger.has_news()) return;
  const quota::News news = world_.ledger.take_news();
  if (news.terms) {
    rejoin_by_quota();
    return queue_.quotas_changed();
  }
  for (const QuotaId id : news.accounts) queue_.account_changed(static_cast<QueueId>(id));
  for (const QuotaId id : news.opened) queue_.quota_opened(static_cast<QueueId>(id));
  for (const quota::PoolId pool : news.pools) queue_.pool_opened(pool);
}

void Waking::rejoin_by_quota() {
  std::vector<const WaitingPod*> others;
  queue_.for_each_quota([&](QueueId id, const PodQueue& queue) {
    for (const WaitingPod* pod : queue.parked_kinds()) {
      if (pod->apart.any()) continue;  // not in line for its rules
      const bool hopeless = world_.ledger.never_fits(QuotaId{id}, pod->demand);
      if (hopeless == pod->in_line) others.push_back(pod);
    }
  });
  for (const WaitingPod* pod : others) queue_.rejoin(*pod);
}

QueueId Waking::queue_for(const WaitingPod& pod) const {
  if (pod.demand.is_none()) return kMainQueue;
  static_assert(static_cast<QueueId>(quota::kUnlimitedQuota) == kMainQueue);
  return static_cast<QueueId>(world_.ledger.quota_of(pod.pod.metadata.namespace_));
}

void Waking::requeue_by_quota() {
  const std::vector<WaitingPod*> waiting = queue_.pods();
  for (WaitingPod* pod : waiting) queue_.move(*pod, queue_for(*pod));
}

}  // namespace sched
