// The accounts of quotas, for the status of their objects.
#pragma once

#include "scheduler/engine/answers.h"
#include "scheduler/engine/report/quota_words.h"
#include "scheduler/queue/queues.h"
#include "scheduler/quota/ledger.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sched {

class QuotaStatuses {
 public:
  // All outlive it.
  QuotaStatuses(quota::Ledger& ledger, Queues& queue, const QuotaWords& words)
      : ledger_(ledger), queue_(queue), words_(words) {}

  // As Engine's functions.
  [[nodiscard]] std::vector<QuotaStatus> all() const;
  [[nodiscard]] NamespaceQuotas of(const std::string& namespace_) const;
  [[nodiscard]] std::vector<QuotaUse> uses() const;
  [[nodiscard]] std::vector<BorrowedGpus> borrowed() const;
  [[nodiscard]] QuotaNews take_news();
  [[nodiscard]] std::uint64_t version() const { return ledger_.version() + queue_.version(); }

 private:
  [[nodiscard]] QuotaStatus status_of(quota::QuotaId quota) const;

  quota::Ledger& ledger_;
  Queues& queue_;
  const QuotaWords& words_;
  std::map<quota::QuotaId, std::string> told_;  // the names of those that were reported
  std::uint64_t remembered_ = 0;                // the memory's version
};

}  // namespace sched
