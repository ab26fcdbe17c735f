#include "scheduler/engine/report/quota_statuses.h"

#include "scheduler/engine/world/waiting_pod.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace sched {

using quota::QuotaId;

std::vector<QuotaStatus> QuotaStatuses::all() const {
  std::vector<QuotaStatus> all;
  for (const QuotaId id : ledger_.quotas().by_name()) all.push_back(status_of(id));
  return all;
}

NamespaceQuotas QuotaStatuses::of(const std::string& namespace_) const {
  NamespaceQuotas of;
  const QuotaId own = ledger_.quota_of(namespace_);
  of.without = words_.without(own, namespace_);
  for (const QuotaId id : ledger_.counting(namespace_)) of.quotas.push_back(status_of(id));
  for (const QuotaId id : ledger_.selecting_without_effect(namespace_)) {
    of.selecting_without_effect.push_back(ledger_.name_of(id));
  }
  of.borrowed = borrowed();
  std::erase_if(of.borrowed,
                [&](const BorrowedGpus& loan) { return loan.namespace_ != namespace_; });
  const EntityQueue* queue = queue_.find(static_cast<QueueId>(own));
  if (queue == nullptr) return of;
  const WaitingLine& line = queue->line();
  of.in_line = line.size();
  if (const Entity* head = line.first()) {
    of.head = ref_of(pod_of(*head).pod);
    of.head_since = head->waits_since;
  }
  const Entity* first = nullptr;
  for (const Entity* entity : queue_.entities()) {
    if (entity->queue != static_cast<QueueId>(own) || !entity->in_line) continue;
    if (pod_of(*entity).pod.metadata.namespace_ != namespace_) continue;
    if (first == nullptr || entity->order < first->order) first = entity;
  }
  if (first != nullptr) of.first_place = line.before(*first) + 1;
  return of;
}

std::vector<QuotaUse> QuotaStatuses::uses() const {
  std::vector<QuotaUse> all;
  for (const quota::NamespaceUse& use : ledger_.report().uses()) {
    all.push_back({.quota = ledger_.name_of(use.quota),
                   .gpu_type = ledger_.quotas().type_of(use.quota, use.line),
                   .namespace_ = use.namespace_,
                   .pods = use.pods,
                   .gpus = to_quantity(use.amount)});
  }
  std::sort(all.begin(), all.end(), [](const QuotaUse& a, const QuotaUse& b) {
    return std::tie(a.quota, a.gpu_type, a.namespace_) <
           std::tie(b.quota, b.gpu_type, b.namespace_);
  });
  return all;
}

std::vector<BorrowedGpus> QuotaStatuses::borrowed() const {
  std::vector<BorrowedGpus> all;
  for (const quota::Loan& loan : ledger_.report().loans()) {
    all.push_back({.uid = loan.uid,
                   .namespace_ = loan.namespace_,
                   .quota = ledger_.name_of(loan.quota),
                   .gpu_type = ledger_.quotas().type_of(loan.quota, loan.line),
                   .gpus = to_quantity(loan.amount),
                   .since = loan.at});
  }
  return all;
}

QuotaStatus QuotaStatuses::status_of(QuotaId id) const {
  std::vector<quota::GpuShare> pending;
  if (const EntityQueue* queue = queue_.find(static_cast<QueueId>(id))) {
    queue->line().for_each_kind([&](const quota::Demand& demand, std::size_t pods) {
      const auto asked = ledger_.answers().asks_of(id, demand);
      if (!asked) return;
      const auto& [line, each] = *asked;
      if (pending.size() <= line) pending.resize(line + 1);
      pending[line] += each.times(static_cast<std::int64_t>(pods));
    });
  }
  return {.name = ledger_.name_of(id),
          .uid = ledger_.quotas().at(id).uid,
          .status = ledger_.report().status(id, pending),
          .parent = ledger_.quotas().at(id).said.parent};
}

QuotaNews QuotaStatuses::take_news() {
  std::set<QuotaId> changed = ledger_.take_status_changes();
  for (const QueueId queue : queue_.take_changed_lines()) changed.insert(QuotaId{queue});
  QuotaNews news;
  for (const QuotaId id : changed) {
    if (ledger_.quotas().has(id)) {
      if (id == quota::kNothingQuota) continue;
      news.changed.push_back(status_of(id));
      told_[id] = news.changed.back().name;
    } else if (const auto told = told_.find(id); told != told_.end()) {
      news.gone.push_back(told->second);
      told_.erase(told);
    }
  }
  if (const std::uint64_t version = ledger_.memory_version(); version != remembered_) {
    remembered_ = version;
    news.remember = ledger_.memory();
  }
  return news;
}

}  // namespace sched
