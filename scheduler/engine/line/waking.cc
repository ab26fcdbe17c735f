#include "scheduler/engine/line/waking.h"

#include "scheduler/engine/line/quota_search.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace sched {

using quota::QuotaId;

bool Waking::cluster_changed(const ClusterChange& change, bool news) {
  // Their status, labels and annotations may change often.
  constexpr ChangeMask kOfConstraintsAlone = kSelectorChanged | kStorageChanged;
  const bool changes_some = world_.tell_constraints(change);
  if ((kind_of(change) & kOfConstraintsAlone) != 0 && !changes_some) return false;
  if (!news) return true;
  if (queue_.any_refused()) queue_.wake(changed_object(change));
  queue_.others_changed();
  return true;
}

void Waking::assumed(WaitingPod& waiting, const std::string& node) {
  // The node is set only during the call: the pod itself has none until its bind has succeeded.
  waiting.pod.spec.node_name = node;
  cluster_changed(BoundPodUpserted{waiting.pod});
  waiting.pod.spec.node_name.clear();
}

void Waking::wake_refused(Time now) {
  if (!queue_.any_woken()) return;
  if (now >= span_ends_) {
    span_ends_ = now + kSpan;
    woken_in_span_ = 0;
  }
  woken_in_span_ += queue_.activate_woken(kRefusedInASpan - woken_in_span_);
}

void Waking::wake_for_nodes(Time now) {
  end_rejections(now);
  if (openings_seen_ != world_.nodes.openings()) {
    openings_seen_ = world_.nodes.openings();
    NodeRoom free;
    world_.nodes.changes().since(nodes_seen_, [&](NodeSlot slot) {
      if (world_.nodes.present(slot)) free.widen(world_.nodes.view(slot));
    });
    nodes_seen_ = world_.nodes.changes().end();
    queue_.nodes_opened(free);
    const std::uint64_t facts = world_.nodes.facts_version();
    if (std::exchange(facts_seen_, facts) != facts) queue_.facts_changed();
    looks_on_ = true;
  }
  look_for_others(now);
}

void Waking::end_rejections(Time now) {
  world_.topology_rejections.forget(now);
  const std::uint64_t ended = world_.topology_rejections.ended();
  if (std::exchange(ended_seen_, ended) != ended) queue_.others_changed();
}

void Waking::look_for_others(Time now) {
  if (!queue_.any_waits_for_others()) {
    // Pods that are parked later were checked after all changes up to now.
    round_ = queue_.changes().others;
    looks_on_ = false;
    return;
  }
  if (round_ != queue_.changes().others && now >= next_round_) {
    round_ = queue_.changes().others;
    next_round_ = now + kBetweenRounds;
    looks_on_ = true;
  }
  if (!looks_on_ || now < next_look_) return;
  const Changes changes{.others = round_, .nodes = queue_.changes().nodes};
  looks_on_ = queue_.check_some_for_others(changes, kKindsAtATime) >= kKindsAtATime;
  if (looks_on_) next_look_ = now + kBetweenLooks;
}

std::optional<Time> Waking::next() const {
  const auto look = next_look_for_others();
  if (!queue_.any_woken()) return look;
  return look ? std::min(*look, span_ends_) : span_ends_;
}

std::optional<Time> Waking::next_look_for_others() const {
  if (!queue_.any_waits_for_others()) return std::nullopt;
  if (looks_on_) return next_look_;
  if (round_ != queue_.changes().others) return next_round_;
  return world_.topology_rejections.next_end();
}

void Waking::forget_deleted_quotas(Time now) {
  if (world_.ledger.forget_deleted(now)) requeue_by_quota();
}

void Waking::wake_for_quota() {
  if (!world_.ledger.has_news()) return;
  const quota::News news = world_.ledger.take_news();
  if (news.terms) {
    rejoin_by_quota(news.replaced);
    return queue_.quotas_changed();
  }
  for (const QuotaId id : news.accounts) queue_.account_changed(static_cast<QueueId>(id));
  for (const QuotaId id : news.opened) queue_.quota_opened(static_cast<QueueId>(id));
  for (const quota::PoolId pool : news.pools) queue_.pool_opened(pool);
}

void Waking::rejoin_by_quota(const std::set<QuotaId>& replaced) {
  std::vector<const Entity*> others;
  queue_.for_each_quota([&](QueueId id, const EntityQueue& queue) {
    const bool is_replaced = replaced.contains(QuotaId{id});
    for (const Entity* entity : queue.parked_kinds()) {
      // Those that are apart are not in line because of their rules.
      if (entity->apart.any() && !is_replaced) continue;
      const quota::QuotaAnswers& answers = world_.ledger.answers();
      const bool hopeless = answers.never_fits(QuotaId{id}, entity->demand);
      // A group may have been parked as hopeless by what the smallest of its pods ask for.
      const bool may_hope = entity->is_group && !entity->in_line;
      if (is_replaced || hopeless == entity->in_line || may_hope ||
          was_told_otherwise(id, queue, *entity)) {
        others.push_back(entity);
      }
    }
  });
  for (const Entity* entity : others) queue_.rejoin(*entity);
}

bool Waking::was_told_otherwise(QueueId id, const EntityQueue& queue, const Entity& parked) const {
  const std::vector<Entity*> alike = queue.alike(parked);
  const auto any = [&](bool Entity::*told) {
    return std::any_of(alike.begin(), alike.end(), [&](const Entity* each) { return each->*told; });
  };
  if (any(&Entity::told_of_turn) && !world_.ledger.quotas().is_strict(QuotaId{id})) return true;
  return any(&Entity::told_over_quota) &&
         !world_.ledger.answers().admit(QuotaId{id}, parked.demand, quota::kNoHold).refuses();
}

QueueId Waking::queue_for(const Entity& entity) const {
  if (entity.demand.is_none()) return kMainQueue;
  static_assert(static_cast<QueueId>(quota::kUnlimitedQuota) == kMainQueue);
  return static_cast<QueueId>(world_.ledger.quota_of(pod_of(entity).pod.metadata.namespace_));
}

void Waking::requeue_by_quota() {
  const std::vector<Entity*> waiting = queue_.entities();
  for (Entity* entity : waiting) queue_.move(*entity, queue_for(*entity));
}

}  // namespace sched
