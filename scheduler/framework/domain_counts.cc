#include "scheduler/framework/domain_counts.h"

namespace sched {

void DomainCounts::change(DomainId domain, std::int64_t amount, int nodes) {
  if (amount == 0 && nodes == 0) return;
  if (domain >= domains_.size()) domains_.resize(domain + std::size_t{1});
  Domain& changed = domains_[domain];
  if (changed.nodes > 0) {
    --size_;
    const auto before = amounts_.find(changed.amount);
    if (--before->second == 0) amounts_.erase(before);
  }
  changed.amount += amount;
  changed.nodes += static_cast<std::uint32_t>(nodes);
  total_ += amount;
  if (changed.nodes > 0) {
    ++size_;
    ++amounts_[changed.amount];
  }
}

}  // namespace sched
