#include "scheduler/engine/report/quota_words.h"

#include "scheduler/engine/line/quota_search.h"
#include "scheduler/quota/message.h"

namespace sched {
namespace {

// The message names no pod of another namespace.
std::string name_for(const WaitingPod& asker, const WaitingPod& pod) {
  const k8s::ObjectMeta& meta = pod.pod.metadata;
  if (meta.namespace_ != asker.pod.metadata.namespace_) return "a pod of another namespace";
  return meta.namespace_ + "/" + meta.name;
}

}  // namespace

std::string QuotaWords::of(const Entity& entity) const {
  return of({.quota = quota_of(entity),
             .demand = entity.demand,
             .namespace_ = pod_of(entity).pod.metadata.namespace_,
             .waiting = &entity});
}

std::string QuotaWords::without(quota::QuotaId id, const std::string& namespace_) const {
  const quota::Ledger& ledger = world_.ledger;
  if (id == quota::kUnlimitedQuota) return {};
  if (id == quota::kUndecidedQuota) return quota::undecided_message(namespace_);
  if (id == quota::kNothingQuota) return quota::no_quota_message(namespace_);
  if (const auto deleted = ledger.deleted(id)) {
    return quota::deleted_quota_message(ledger.name_of(id), deleted->until, deleted->used);
  }
  if (const auto error = ledger.report().error_of(id)) {
    return quota::invalid_quota_message(ledger.name_of(id), *error);
  }
  return {};
}

std::string QuotaWords::of(const Question& question) const {
  const quota::QuotaId id = question.quota;
  if (std::string none = without(id, question.namespace_); !none.empty()) return none;
  const quota::Ledger& ledger = world_.ledger;
  const EntityQueue* queue = queue_.find(static_cast<QueueId>(id));
  std::size_t before = queue == nullptr ? 0 : queue->line().size();
  const Hold* hold = nullptr;
  quota::HoldRank rank = quota::kNoHold;
  if (question.waiting != nullptr) {
    before = queue->line().before(*question.waiting);
    hold = holds_.of(*question.waiting);
    rank = holds_.rank_of(*question.waiting);
  }
  std::string words = quota::waiting_message(
      ledger.name_of(id), ledger.answers().by_line(id, question.demand, rank, question.in), before);
  if (ledger.answers().never_fits(id, question.demand)) {
    std::vector<std::string> others;
    for (const quota::QuotaId other : ledger.selecting_without_effect(question.namespace_)) {
      others.push_back(ledger.name_of(other));
    }
    if (others.empty()) return words;
    return words + "; " +
           quota::without_effect_message(others, ledger.name_of(id), question.namespace_);
  }
  if (hold == nullptr || !hold->on) return words;
  return words + "; holds node " + world_.nodes.name(hold->on->node()) + " until it has room";
}

std::string QuotaWords::behind(const Entity& entity) const {
  const WaitingLine& line = queue_.find(entity.queue)->line();
  return quota::behind_message(world_.ledger.name_of(quota_of(entity)),
                               name_for(pod_of(entity), pod_of(*line.first())),
                               line.before(entity));
}

}  // namespace sched
