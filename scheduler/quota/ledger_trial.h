// The accounts as they would be with some charges removed and others added, for example if a pod
// were evicted, or if the rest of a gang were placed.
//
// A sparse overlay of the ledger. QuotaAnswers answers the same questions with it (parameter `in`)
// as without. The trial copies the lines of the quotas that it is asked about, and the pools that
// these share. The ledger stays unchanged; once it has changed, the trial must not be used any
// more. What quotas hold for pods is the same in the trial.
#pragma once

#include "scheduler/quota/charge_class.h"
#include "scheduler/quota/demand.h"
#include "scheduler/quota/ledger.h"
#include "scheduler/quota/line.h"

#include <map>
#include <string>
#include <vector>

namespace sched::quota {

class LedgerTrial {
 public:
  // `ledger` outlives the trial.
  explicit LedgerTrial(const Ledger& ledger) : ledger_(ledger) {}
  LedgerTrial(const LedgerTrial&) = delete;
  LedgerTrial& operator=(const LedgerTrial&) = delete;

  // The charge would be gone / would be there after all. The lines of its quota are copied when it
  // is first named.
  void take_away(const Charge& charge);
  void put_back(const Charge& charge);
  // A pod of that namespace with that demand would be on a node of that class.
  void add(const std::string& namespace_, const Demand& demand, ChargeClassId on);
  void add(const std::string& namespace_, const Demand& demand, const ChargeClass& on);

 private:
  friend class QuotaAnswers;
  // The quota's lines as they would be.
  std::vector<Line>& lines_of(QuotaId quota) const;

  const Ledger& ledger_;
  // Copies of what was asked about. The order in which they were made has no effect.
  mutable std::map<QuotaId, std::vector<Line>> lines_;
  mutable std::map<PoolId, Pool> pools_;
};

}  // namespace sched::quota
