// The ledger's answers about waiting pods.
#include "scheduler/quota/ledger.h"
#include "scheduler/quota/ledger_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sched::quota {
namespace {

// Whether answer a is better to report than b.
bool needs_less(const LineAnswer& a, const LineAnswer& b) { return a.needs < b.needs; }

// Whether such GPUs can never have MIG instances. MIG came with compute capability 8.0, and the
// other 8.x do not have it (NVIDIA's MIG user guide, "Supported GPUs"). False for GPUs that are not
// known.
bool has_no_mig(const gpu::Product& gpu) {
  if (gpu.gpu_class == nullptr || !gpu.gpu_class->compute.is_known()) return false;
  const auto [major, minor] = gpu.gpu_class->compute;
  return major < 8 || (major == 8 && minor != 0);
}

// After all quotas that have a share.
Standing::Share no_share(GpuShare used) {
  return {.tier = Standing::Tier::kNoGuarantee, .beyond = used, .weight = GpuShare::gpus(1)};
}

Standing::Share share_of(const Line& line, const std::optional<GpuShare>& weight) {
  const GpuShare guaranteed = line.spec().guaranteed;
  const GpuShare weighs = weight.value_or(guaranteed);
  if (weighs.is_zero()) return no_share(line.used());
  return {.tier = Standing::Tier::kBorrower, .beyond = line.used() - guaranteed, .weight = weighs};
}

// Of a quota that can use nothing that exists: its turn comes last.
Standing uses_nothing() { return {.levels = {no_share({})}}; }

}  // namespace

Ledger::Account Ledger::account(QuotaId id, const LedgerTrial* in) const {
  const Quota& quota = at(id);
  return {quota, in == nullptr ? quota.lines : in->lines_of(id)};
}

std::optional<Ledger::BorrowedPart> Ledger::loan_of(const Charge& charge, QuotaId seen_by,
                                                    const LedgerTrial* in) const {
  if (!charge.quota_) return std::nullopt;
  const Account other = account(seen_by, in);
  const Line& others_line = other.lines[line_of(other.quota, class_of_node_[charge.node_])];
  const Line* line = &account(*charge.quota_, in).lines[charge.line_];
  BorrowedPart part{.pool = kNoPool, .guaranteed = {}};
  while (true) {
    if (line->borrowed().is_zero()) return std::nullopt;
    part.guaranteed = std::max(part.guaranteed, charge.amount_.beyond(line->borrowed()));
    if (line->pool() == nullptr) return part;
    std::size_t number = 0;
    for (const Pool* pool = others_line.pool(); pool != nullptr; pool = pool->outer(), ++number) {
      if (pool->id != line->pool()->id) continue;
      part.pool = number;
      return part;
    }
    if (line->pool()->above == nullptr) return part;
    line = line->pool()->above;
  }
}

std::size_t Ledger::pools_to_reclaim(QuotaId id, const Demand& demand, HoldRank rank,
                                     ChargeClassId on, const LedgerTrial* in) const {
  const Account of = account(id, in);
  const std::size_t index = line_of(of.quota, on);
  GpuShare more = charge_of(demand, classes_[on]);
  if (!eligible(on, demand) || !may_have(of.quota, index, more, demand)) return 0;
  const Line* line = &of.lines[index];
  if (line->pool() == nullptr || more > line->spec().guaranteed) return 0;
  GpuShare own = of.quota.held_from(rank, index);
  std::size_t pools = 1;
  while (line->pool()->above != nullptr) {
    more = line->more_above(more, own);
    own = {};
    line = line->pool()->above;
    if (line->pool() == nullptr || line->used() + more > line->spec().guaranteed) break;
    ++pools;
  }
  return pools;
}

std::size_t Ledger::line_of(const Quota& quota, ChargeClassId on) const {
  if (on < quota.line_of.size()) return quota.line_of[on];
  return line_for(quota.spec.lines, classes_[on].product);
}

bool Ledger::eligible(ChargeClassId id, const Demand& demand) const {
  if (!classes_.present(id)) return false;
  if (!demand.instances.empty() && has_no_mig(classes_[id].product)) return false;
  return allows(demand.allowed, classes_[id]);
}

template <typename Visit>
void Ledger::for_each_choice(const Quota& quota, const Demand& demand, Visit&& visit) const {
  for (ChargeClassId id = kNoGpuClass + 1; id < classes_.size(); ++id) {
    if (!eligible(id, demand)) continue;
    visit(id, line_of(quota, id), charge_of(demand, classes_[id]));
  }
}

template <typename Visit>
void Ledger::for_each_absent(const Quota& quota, const Demand& demand, Visit&& visit) const {
  // Pieces of other kinds may be parts of a GPU on future nodes.
  if (demand.gpus == 0 || !demand.is_of_gpus_alone()) return;
  const GpuShare amount = GpuShare::gpus(demand.gpus);
  const std::vector<LineSpec>& lines = quota.spec.lines;
  for (const gpu::TypeName& type : named_types(demand.allowed)) {
    if (!type.mig_profile.empty() || type.text.ends_with("-SHARED")) return;
    bool some = false;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const gpu::TypeName& line = lines[i].means;
      const bool of_class = line.gpu_class != nullptr && line.gpu_class == type.gpu_class;
      if (lines[i].gpu_type != kAnyType && !of_class && line.key != type.key) continue;
      some = true;
      visit(type, i, amount);
    }
    if (!some) visit(type, lines.size(), amount);
  }
}

bool Ledger::never_fits_absent(const Quota& quota, const Demand& demand) const {
  bool some = false;
  bool fits = false;
  for_each_absent(quota, demand, [&](const auto& /*type*/, std::size_t line, GpuShare amount) {
    some = true;
    fits = fits || (may_have(quota, line, amount, demand) && amount <= quota.lines[line].most());
  });
  return some && !fits;
}

bool Ledger::is_too_large(const Quota& quota, GpuShare amount, const Demand& demand) {
  return quota.spec.most_per_pod && amount > quota.spec.most_per_pod->times(demand.pods);
}

bool Ledger::may_have(const Quota& quota, std::size_t line, GpuShare amount, const Demand& demand) {
  if (!quota.children.empty()) return false;  // its GPUs belong to its children
  if (is_too_large(quota, amount, demand)) return false;
  return line != quota.spec.lines.size();
}

Line::Answer Ledger::ask(const Account& account, std::size_t index, GpuShare amount,
                         const Demand& demand, HoldRank rank) {
  if (!may_have(account.quota, index, amount, demand)) return {};
  return account.lines[index].ask(amount, account.quota.held_from(rank, index));
}

Admission Ledger::admit(QuotaId id, const Demand& demand, HoldRank rank,
                        const LedgerTrial* in) const {
  Admission admission;
  const Account of = account(id, in);
  bool some = false;
  for_each_choice(of.quota, demand, [&](ChargeClassId on, std::size_t line, GpuShare amount) {
    some = true;
    admission.add(on, ask(of, line, amount, demand, rank).room);
  });
  // Nodes of that type would not help: an autoscaler must not add them.
  if (!some && never_fits_absent(of.quota, demand)) admission.refused_some = true;
  return admission;
}

LineAnswer Ledger::answer(const Account& account, std::size_t index, GpuShare amount,
                          const Demand& demand, HoldRank rank) {
  using Why = LineAnswer::Why;
  const Quota& quota = account.quota;
  const Line& line = account.lines[index];
  const Line::Answer said = ask(account, index, amount, demand, rank);
  LineAnswer answer{.gpu_type = line.spec().gpu_type,
                    .why = Why::kHasRoom,
                    .needs = amount,
                    .used = line.used(),
                    .guaranteed = line.spec().guaranteed,
                    .limit = line.limit(),
                    .most = line.most(),
                    .borrowed = line.borrowed(),
                    .missing = said.missing,
                    .cohort = quota.spec.cohort,
                    .parent = quota.spec.parent};
  if (said.room != Room::kNone) return answer;
  if (is_too_large(quota, amount, demand)) {
    answer.why = Why::kTooLarge;
    answer.limit = *quota.spec.most_per_pod;
  } else if (index == quota.spec.lines.size()) {
    answer.why = Why::kNoLine;
  } else if (line.used() + amount > line.limit()) {
    answer.why = Why::kLimit;
  } else if (line.held() != quota.held_from(rank, index)) {
    answer.why = Why::kKept;
  } else {
    const bool within = line.used() + amount <= line.spec().guaranteed;
    answer.why = within ? Why::kBound : Why::kCohort;
  }
  return answer;
}

std::vector<LineAnswer> Ledger::answers(QuotaId id, const Demand& demand, HoldRank rank,
                                        const LedgerTrial* in) const {
  const Account of = account(id, in);
  // If several classes are charged to one line, the class on which the pod needs least.
  std::map<std::pair<std::size_t, std::string>, LineAnswer> by_line;
  for_each_choice(of.quota, demand, [&](ChargeClassId on, std::size_t line, GpuShare amount) {
    LineAnswer said = answer(of, line, amount, demand, rank);
    if (said.why == LineAnswer::Why::kNoLine) said.gpu_type = classes_[on].product.name;
    const auto [known, is_new] = by_line.try_emplace({line, said.gpu_type}, said);
    if (!is_new && needs_less(said, known->second)) known->second = std::move(said);
  });
  if (by_line.empty() && never_fits_absent(of.quota, demand)) {
    for_each_absent(of.quota, demand,
                    [&](const gpu::TypeName& type, std::size_t line, GpuShare amount) {
                      LineAnswer said = answer(of, line, amount, demand, rank);
                      if (said.why == LineAnswer::Why::kNoLine) said.gpu_type = type.text;
                      by_line.try_emplace({line, said.gpu_type}, said);
                    });
  }
  std::vector<LineAnswer> all;
  for (auto& [key, said] : by_line) all.push_back(std::move(said));
  return all;
}

Standing Ledger::standing(QuotaId id, const Demand& demand, HoldRank rank,
                          const LedgerTrial* in) const {
  const Account of = account(id, in);
  bool within = false;
  std::optional<Standing> best;
  for_each_choice(of.quota, demand, [&](ChargeClassId /*on*/, std::size_t line, GpuShare amount) {
    if (within || !may_have(of.quota, line, amount, demand)) return;
    within = ask(of, line, amount, demand, rank).room == Room::kGuaranteed;
    if (within) return;
    const Standing standing = standing_of(of.quota, of.lines[line]);
    if (!best || compare(standing, *best) < 0) best = standing;
  });
  return within ? Standing{} : best.value_or(uses_nothing());
}

Standing Ledger::standing_on(ChargeClassId on, QuotaId id, const Demand& demand, HoldRank rank,
                             const LedgerTrial* in) const {
  const Account of = account(id, in);
  const std::size_t line = line_of(of.quota, on);
  const GpuShare amount = charge_of(demand, classes_[on]);
  if (!eligible(on, demand) || !may_have(of.quota, line, amount, demand)) return uses_nothing();
  if (ask(of, line, amount, demand, rank).room == Room::kGuaranteed) return {};
  return standing_of(of.quota, of.lines[line]);
}

Standing Ledger::standing_of(const Quota& quota, const Line& line) const {
  Standing standing;
  std::size_t level = 0;
  for (const Quota* at_level = &quota; at_level->parent; at_level = &at(*at_level->parent)) ++level;
  standing.levels[level] = share_of(line, quota.spec.weight);
  const Quota* inner = &quota;
  for (const Pool* pool = line.pool(); level > 0; pool = pool->outer()) {
    inner = &at(*inner->parent);
    const Line& above = *pool->above;
    --level;
    if (above.used() < above.spec().guaranteed) continue;  // it has guarantee left
    standing.levels[level] = share_of(above, inner->spec.weight);
  }
  return standing;
}

std::vector<InPool> Ledger::in_pools(QuotaId id) const {
  std::vector<InPool> pools;
  const Quota& quota = at(id);
  for (const Line& line : quota.lines) {
    if (line.pool() == nullptr) continue;
    if (line.used() >= std::max(line.limit(), line.spec().guaranteed)) continue;
    // Its next pod may be within the guarantee, and wait nevertheless.
    const bool as_owner = line.used() < line.spec().guaranteed &&
                          (line.pool()->bounded || line.pool()->above != nullptr);
    const Standing standing = as_owner ? Standing() : standing_of(quota, line);
    for (const Pool* pool = line.pool(); pool != nullptr; pool = pool->outer()) {
      const auto known = std::find_if(pools.begin(), pools.end(),
                                      [&](const InPool& each) { return each.pool == pool->id; });
      if (known == pools.end()) {
        pools.push_back({.pool = pool->id, .standing = standing});
      } else if (compare(standing, known->standing) < 0) {
        known->standing = standing;
      }
    }
  }
  return pools;
}

bool Ledger::lends(PoolId pool) const {
  return pool < lending_.size() && lending_[pool].pool->gives();
}

bool Ledger::never_fits(QuotaId id, const Demand& demand) const {
  const Quota& quota = at(id);
  bool some = false;
  bool fits = false;
  for_each_choice(quota, demand, [&](ChargeClassId /*on*/, std::size_t line, GpuShare amount) {
    some = true;
    if (!may_have(quota, line, amount, demand)) return;
    fits = fits || amount <= quota.lines[line].most();
  });
  return some ? !fits : never_fits_absent(quota, demand);
}

GpuShare Ledger::Quota::held_from(HoldRank rank, std::size_t line) const {
  GpuShare sum;
  for (auto i = static_cast<std::size_t>(rank); i < held.size(); ++i) {
    if (held[i].line == line) sum += held[i].amount;
  }
  return sum;
}

std::optional<Ledger::Held> Ledger::best_hold(const Quota& quota, const Demand& demand,
                                              const std::vector<ChargeClassId>& classes,
                                              bool alone) const {
  std::optional<Held> best;
  GpuShare best_missing;
  for_each_choice(quota, demand, [&](ChargeClassId on, std::size_t line, GpuShare amount) {
    if (!may_have(quota, line, amount, demand)) return;
    if (!std::binary_search(classes.begin(), classes.end(), on)) return;
    const Line& of = quota.lines[line];
    const GpuShare others = alone ? GpuShare() : of.held();
    if (others + amount > of.spec().guaranteed) return;
    const GpuShare missing = (of.used() + others + amount).beyond(of.spec().guaranteed);
    if (best && best_missing <= missing) return;
    best = {.line = line, .amount = amount};
    best_missing = missing;
  });
  return best;
}

bool Ledger::could_be_within(QuotaId id, const Demand& demand) const {
  const Quota& quota = at(id);
  bool could = false;
  for_each_choice(quota, demand, [&](ChargeClassId /*on*/, std::size_t line, GpuShare amount) {
    could = could || (may_have(quota, line, amount, demand) &&
                      amount <= quota.lines[line].spec().guaranteed);
  });
  return could;
}

bool Ledger::could_hold(QuotaId id, const Demand& demand,
                        const std::vector<ChargeClassId>& classes) const {
  return best_hold(at(id), demand, classes, true).has_value();
}

bool Ledger::hold(QuotaId id, const Demand& demand, const std::vector<ChargeClassId>& classes) {
  Quota& quota = at(id);
  const auto best = best_hold(quota, demand, classes, false);
  if (!best) return false;
  quota.held.push_back(*best);
  change(id, quota, best->line, &Line::hold, best->amount);
  return true;
}

void Ledger::release(QuotaId id, HoldRank rank) {
  Quota& quota = at(id);
  const auto index = static_cast<std::size_t>(rank);
  if (index >= quota.held.size()) return;
  const Held released = quota.held[index];
  quota.held.erase(quota.held.begin() + static_cast<std::ptrdiff_t>(index));
  change(id, quota, released.line, &Line::let_go, released.amount);
}

void Ledger::release(QuotaId id) {
  while (!at(id).held.empty()) release(id, kFirstHold);
}

bool Ledger::is_strict(QuotaId quota) const { return at(quota).spec.strict; }
const std::string& Ledger::name_of(QuotaId quota) const { return at(quota).name; }
const std::string& Ledger::uid_of(QuotaId quota) const { return at(quota).uid; }
const std::string& Ledger::type_of(QuotaId quota, std::size_t line) const {
  return at(quota).lines[line].spec().gpu_type;
}
const std::string& Ledger::parent_of(QuotaId quota) const { return at(quota).said.parent; }
std::optional<std::string> Ledger::error_of(QuotaId id) const {
  const Quota& quota = at(id);
  if (quota.error) return quota.error;
  if (quota.misplaced) return quota.misplaced;
  if (quota.children.empty() || !assignment_.has_some(id)) return std::nullopt;
  return fmt::format("spec.namespaces: quota {} has it as its parent, so it gives none itself",
                     at(quota.children.front()).name);
}

std::optional<std::pair<std::size_t, GpuShare>> Ledger::asks_of(QuotaId id,
                                                                const Demand& demand) const {
  const Quota& quota = at(id);
  std::optional<std::pair<std::size_t, GpuShare>> asked;
  std::pair<GpuShare, GpuShare> least;
  for_each_choice(quota, demand, [&](ChargeClassId /*on*/, std::size_t line, GpuShare amount) {
    if (line == quota.spec.lines.size()) return;
    const Line& of = quota.lines[line];
    const GpuShare after = of.used() + amount;
    const std::pair beyond{after.beyond(of.limit()), after.beyond(of.spec().guaranteed)};
    if (asked && least <= beyond) return;
    asked = {line, amount};
    least = beyond;
  });
  return asked;
}

}  // namespace sched::quota
