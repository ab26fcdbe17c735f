#include "scheduler/quota/ledger_trial.h"

namespace sched::quota {

void LedgerTrial::take_away(const Charge& charge) {
  if (!charge.quota()) return;
  lines_of(*charge.quota())[charge.line()].refund(charge.amount());
}

void LedgerTrial::put_back(const Charge& charge) {
  if (!charge.quota()) return;
  lines_of(*charge.quota())[charge.line()].charge(charge.amount());
}

void LedgerTrial::add(const std::string& namespace_, const Demand& demand, ChargeClassId on) {
  add(namespace_, demand, ledger_.classes()[on]);
}

void LedgerTrial::add(const std::string& namespace_, const Demand& demand, const ChargeClass& on) {
  const QuotaId quota = ledger_.quota_of(namespace_);
  if (quota == kUnlimitedQuota) return;
  const std::size_t line = line_for(ledger_.quotas().at(quota).spec.lines, on.product);
  lines_of(quota)[line].charge(charge_of(demand, on));
}

std::vector<Line>& LedgerTrial::lines_of(QuotaId quota) const {
  const auto [copied, is_new] = lines_.try_emplace(quota);
  if (!is_new) return copied->second;
  copied->second = ledger_.quotas().at(quota).lines;
  for (Line& line : copied->second) {
    if (line.pool() == nullptr) continue;
    const auto [pool, is_new_pool] = pools_.try_emplace(line.pool()->id, *line.pool());
    line.use(pool->second);
    if (is_new_pool && pool->second.above != nullptr) {
      pool->second.above = &lines_of(pool->second.parent)[pool->second.parent_line];
    }
  }
  return copied->second;
}

}  // namespace sched::quota
