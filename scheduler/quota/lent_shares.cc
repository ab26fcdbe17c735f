#include "scheduler/quota/lent_shares.h"

#include <algorithm>
#include <cstdint>
#include <queue>

namespace sched::quota {
namespace {

// Divides `sum` into parts. Each is in proportion to the weight at its index, and at most that
// weight. The sum of `weights` is `total`, which is at least `sum`. If weights and sum are whole
// GPUs, so are the parts, by D'Hondt's method: when the sum grows by one GPU, only one part grows.
// So a loan changes the status of few quotas.
std::vector<GpuShare> in_proportion(GpuShare sum, const std::vector<GpuShare>& weights,
                                    GpuShare total) {
  __extension__ using Wide = __int128;
  struct Turn {
    std::size_t index = 0;
    GpuShare weight;
    std::int64_t next = 0;  // the number of GPUs that its part has after its turn
    // The lesser one has the later turn.
    bool operator<(const Turn& other) const {
      const Wide mine = Wide{weight.units()} * other.next;
      const Wide others = Wide{other.weight.units()} * next;
      return mine != others ? mine < others : other.index < index;
    }
  };
  std::vector<GpuShare> parts;
  std::priority_queue<Turn> turns;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const std::int64_t gpus = sum.part(weights[i], total).units() / GpuShare::kUnitsPerGpu;
    parts.push_back(GpuShare::gpus(gpus));
    if (parts[i] < weights[i]) turns.push({.index = i, .weight = weights[i], .next = gpus + 1});
  }
  GpuShare left = sum;
  for (const GpuShare part : parts) left -= part;
  while (!left.is_zero()) {
    Turn turn = turns.top();
    turns.pop();
    GpuShare& part = parts[turn.index];
    const GpuShare more = std::min({left, GpuShare::gpus(1), turn.weight - part});
    part += more;
    left -= more;
    ++turn.next;
    if (part < turn.weight) turns.push(turn);
  }
  return parts;
}

}  // namespace

void LentShares::rebuild() {
  by_pool_.assign(quotas_.pools(), {});
  lender_at_.clear();
  stale_.clear();
  for (const QuotaId id : quotas_.by_name()) {
    const std::vector<Line>& lines = quotas_.at(id).lines;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (lines[i].pool() == nullptr) continue;
      auto& lenders = by_pool_[lines[i].pool()->id].lenders;
      lender_at_.emplace(std::pair(id, i), lenders.size());
      lenders.push_back({.quota = id, .line = i, .lent = {}});
    }
  }
}

void LentShares::changed(PoolId pool) {
  if (!std::exchange(by_pool_[pool].stale, true)) stale_.push_back(pool);
}

GpuShare LentShares::of(QuotaId quota, std::size_t line) const {
  const Pool* pool = quotas_.at(quota).lines[line].pool();
  if (pool == nullptr) return {};
  return up_to_date(pool->id).lenders[lender_at_.at({quota, line})].lent;
}

std::set<QuotaId> LentShares::take_changes() {
  for (const PoolId pool : std::exchange(stale_, {})) up_to_date(pool);
  return std::exchange(changed_, {});
}

const LentShares::Lending& LentShares::up_to_date(PoolId pool) const {
  Lending& lending = by_pool_[pool];
  if (std::exchange(lending.stale, false)) share_out(*quotas_.pool(pool), lending);
  return lending;
}

void LentShares::share_out(const Pool& pool, Lending& lending) const {
  std::vector<GpuShare> idle;
  GpuShare all_idle;
  GpuShare left;
  for (const Lender& lender : lending.lenders) {
    const Line& line = quotas_.at(lender.quota).lines[lender.line];
    left += line.borrowed_in_use();
    idle.push_back(line.idle());
    all_idle += idle.back();
  }
  // What a parent has beyond what its lines are guaranteed is borrowed first.
  if (pool.above != nullptr) {
    left = left.beyond(pool.above->spec().guaranteed.beyond(pool.guaranteed));
  }
  const GpuShare lent = std::min(left, all_idle);
  left -= lent;
  const std::vector<GpuShare> parts = in_proportion(lent, idle, all_idle);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Lender& lender = lending.lenders[i];
    if (std::exchange(lender.lent, parts[i]) != parts[i]) changed_.insert(lender.quota);
  }
  // A parent borrows the rest itself.
  const bool overlent = pool.above == nullptr && !left.is_zero();
  if (std::exchange(lending.overlent, overlent) == lending.overlent) return;
  for (const Lender& lender : lending.lenders) changed_.insert(lender.quota);
}

}  // namespace sched::quota
