// The ledger's account of a quota, as its status has it.
#include "scheduler/quota/ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <queue>
#include <tuple>
#include <utility>

namespace sched::quota {
namespace {

// In GPUs.
struct Amounts {
  GpuShare guaranteed, used, borrowed, lent, pending;
  Amounts& operator+=(const Amounts& other) {
    guaranteed += other.guaranteed;
    used += other.used;
    borrowed += other.borrowed;
    lent += other.lent;
    pending += other.pending;
    return *this;
  }
};

k8s::GpuQuota::Use in_quantities(const Amounts& amounts) {
  return {.guaranteed = to_quantity(amounts.guaranteed),
          .used = to_quantity(amounts.used),
          .borrowed = to_quantity(amounts.borrowed),
          .lent = to_quantity(amounts.lent),
          .pending = to_quantity(amounts.pending)};
}

// `sum` in parts, each in proportion to the weight at its index and at most that; `weights` sum up
// to `total`, which is at least `sum`. Whole GPUs where weights and sum are, by D'Hondt's method:
// when the sum grows by one GPU, one part does. So a loan changes the status of few quotas.
std::vector<GpuShare> in_proportion(GpuShare sum, const std::vector<GpuShare>& weights,
                                    GpuShare total) {
  __extension__ using Wide = __int128;
  struct Turn {
    std::size_t index = 0;
    GpuShare weight;
    std::int64_t next = 0;  // the number of GPUs that its part has after its turn
    // Less: the later turn.
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

void Ledger::list_lenders() {
  for (const QuotaId id : quotas()) {
    Quota& quota = at(id);
    quota.lender_at.assign(quota.lines.size(), 0);
    for (std::size_t i = 0; i < quota.lines.size(); ++i) {
      if (quota.lines[i].pool() == nullptr) continue;
      auto& lenders = lending_[quota.lines[i].pool()->id].lenders;
      quota.lender_at[i] = lenders.size();
      lenders.push_back({.quota = id, .line = i, .lent = {}});
    }
  }
}

void Ledger::share_out(Lending& lending) const {
  lending.stale = false;
  const Pool& pool = *lending.pool;
  // What a parent has beyond what its lines are guaranteed is borrowed first.
  GpuShare left = pool.borrowed;
  if (pool.above != nullptr) {
    left = left.beyond(pool.above->spec().guaranteed.beyond(pool.guaranteed));
  }
  std::vector<GpuShare> idle;
  GpuShare all_idle;
  for (const Lender& lender : lending.lenders) {
    idle.push_back(at(lender.quota).lines[lender.line].idle());
    all_idle += idle.back();
  }
  const GpuShare lent = std::min(left, all_idle);
  left -= lent;
  const std::vector<GpuShare> parts = in_proportion(lent, idle, all_idle);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Lender& lender = lending.lenders[i];
    if (std::exchange(lender.lent, parts[i]) != parts[i]) status_changed_.insert(lender.quota);
  }
  // A parent borrows the rest itself.
  const bool overlent = pool.above == nullptr && !left.is_zero();
  if (std::exchange(lending.overlent, overlent) == lending.overlent) return;
  for (const Lender& lender : lending.lenders) status_changed_.insert(lender.quota);
}

GpuShare Ledger::lent(const Quota& quota, std::size_t line) const {
  if (quota.lines[line].pool() == nullptr) return {};
  Lending& lending = lending_[quota.lines[line].pool()->id];
  if (lending.stale) share_out(lending);
  return lending.lenders[quota.lender_at[line]].lent;
}

std::vector<NamespaceUse> Ledger::uses() const {
  std::map<std::tuple<QuotaId, std::size_t, std::string>, NamespaceUse> uses;
  for (const auto& [name, charges] : in_namespace_) {
    for (const Charge* charge : charges) {
      if (!charge->quota_ || charge->amount_.is_zero()) continue;
      NamespaceUse& use = uses[{*charge->quota_, charge->line_, name}];
      ++use.pods;
      use.amount += charge->amount_;
    }
  }
  std::vector<NamespaceUse> all;
  for (auto& [key, use] : uses) {
    std::tie(use.quota, use.line, use.namespace_) = key;
    all.push_back(std::move(use));
  }
  return all;
}

std::vector<Loan> Ledger::loans() const {
  std::map<std::pair<QuotaId, std::size_t>, std::vector<const Charge*>> borrow;
  for (const auto& [name, charges] : in_namespace_) {
    for (const Charge* charge : charges) {
      if (!charge->quota_ || charge->amount_.is_zero()) continue;
      const Line& line = at(*charge->quota_).lines[charge->line_];
      // What a quota that cannot borrow has beyond its guarantee was not lent.
      if (line.pool() == nullptr || line.borrowed().is_zero()) continue;
      borrow[{*charge->quota_, charge->line_}].push_back(charge);
    }
  }
  std::vector<Loan> all;
  for (auto& [line, charges] : borrow) {
    std::sort(charges.begin(), charges.end(), [](const Charge* a, const Charge* b) {
      return std::tie(b->pod_.at, b->pod_.uid) < std::tie(a->pod_.at, a->pod_.uid);
    });
    GpuShare left = at(line.first).lines[line.second].borrowed();
    for (const Charge* charge : charges) {
      if (left.is_zero()) break;
      const GpuShare part = std::min(left, charge->amount_);
      left -= part;
      all.push_back({.uid = charge->pod_.uid,
                     .namespace_ = charge->pod_.namespace_,
                     .at = charge->pod_.at,
                     .quota = line.first,
                     .line = line.second,
                     .amount = part});
    }
  }
  std::sort(all.begin(), all.end(), [](const Loan& a, const Loan& b) {
    return std::tie(b.at, b.uid) < std::tie(a.at, a.uid);
  });
  return all;
}

GpuShare Ledger::in_use(const Quota& quota, std::size_t line) const {
  if (quota.inner[line] == nullptr) return quota.lines[line].used();
  GpuShare sum;
  for (const QuotaId id : quota.children) {
    const Quota& child = at(id);
    for (std::size_t i = 0; i < child.lines.size(); ++i) {
      if (child.lines[i].pool() == quota.inner[line]) sum += in_use(child, i);
    }
  }
  return sum;
}

std::set<QuotaId> Ledger::take_status_changes() {
  for (const PoolId pool : std::exchange(stale_pools_, {})) {
    if (lending_[pool].stale) share_out(lending_[pool]);
  }
  if (covers_stale_) sum_up_guarantees();
  status_changed_.merge(assignment_.take_changed());
  status_changed_.erase(kNothingQuota);
  return std::exchange(status_changed_, {});
}

k8s::GpuQuota::Status Ledger::status(QuotaId id, const std::vector<GpuShare>& pending) const {
  const Quota& quota = at(id);
  k8s::GpuQuota::Status status;
  status.observed_generation = quota.generation;
  Amounts total;
  for (std::size_t i = 0; i < quota.spec.lines.size(); ++i) {
    const Line& line = quota.lines[i];
    const Amounts amounts{.guaranteed = line.spec().guaranteed,
                          .used = in_use(quota, i),
                          .borrowed = line.borrowed(),
                          .lent = lent(quota, i),
                          .pending = i < pending.size() ? pending[i] : GpuShare()};
    total += amounts;
    status.quotas.push_back({.gpu_type = line.spec().gpu_type, .use = in_quantities(amounts)});
  }
  total.used += quota.lines.back().used();
  status.total = in_quantities(total);
  status.conditions = conditions(id);
  return status;
}

}  // namespace sched::quota
