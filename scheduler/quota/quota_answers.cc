#include "scheduler/quota/quota_answers.h"

#include "scheduler/quota/ledger_trial.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

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

// Whether a pod may have what it asks for on GPUs of the class.
bool could_use(const ChargeClass& gpus, const Demand& demand) {
  if (!demand.instances.empty() && has_no_mig(gpus.product)) return false;
  return allows(demand.allowed, gpus);
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

// Whether that much could be within the guarantees of the line and of the outermost line above.
// What that must borrow from its cohort, pods of two departments for which quota is held would keep
// from each other.
bool could_be_guaranteed(const Line& line, GpuShare amount) {
  const Line* outermost = &line;
  while (outermost->pool() != nullptr && outermost->pool()->above != nullptr) {
    outermost = outermost->pool()->above;
  }
  return amount <= std::min(line.spec().guaranteed, outermost->spec().guaranteed);
}

// Of a quota that can use nothing that exists: its turn comes last.
Standing uses_nothing() { return {.levels = {no_share({})}}; }

}  // namespace

QuotaAnswers::Account QuotaAnswers::account(QuotaId id, const LedgerTrial* in) const {
  const Quota& quota = quotas_.at(id);
  return {quota, in == nullptr ? quota.lines : in->lines_of(id)};
}

std::optional<QuotaAnswers::BorrowedPart> QuotaAnswers::loan_of(const Charge& charge,
                                                                QuotaId seen_by,
                                                                const LedgerTrial* in) const {
  if (!charge.quota()) return std::nullopt;
  const Account other = account(seen_by, in);
  const Line& others_line = other.lines[quotas_.line_of(other.quota, charge.on())];
  const Line* line = &account(*charge.quota(), in).lines[charge.line()];
  BorrowedPart part{.pool = kNoPool, .guaranteed = {}};
  while (true) {
    const GpuShare borrowed = line->borrowed_in_use();
    if (borrowed.is_zero()) return std::nullopt;
    part.guaranteed = std::max(part.guaranteed, charge.amount().beyond(borrowed));
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

std::size_t QuotaAnswers::pools_to_reclaim(QuotaId id, const Demand& demand, HoldRank rank,
                                           ChargeClassId on, const LedgerTrial* in) const {
  const Account of = account(id, in);
  const std::size_t index = quotas_.line_of(of.quota, on);
  GpuShare more = charge_of(demand, classes_[on]);
  if (!eligible(on, demand) || !of.quota.may_give(index, more, demand.pods)) return 0;
  const Line* line = &of.lines[index];
  if (line->pool() == nullptr || more > line->spec().guaranteed) return 0;
  GpuShare own = of.quota.held_from(rank, index);
  const auto held = own.is_zero() ? Line::HeldBelow::kCounts : Line::HeldBelow::kIsFree;
  std::size_t pools = 1;
  while (line->pool()->above != nullptr) {
    more = line->more_above(more, own, held);
    own = {};
    line = line->pool()->above;
    if (line->pool() == nullptr || line->used_if(held) + more > line->spec().guaranteed) break;
    ++pools;
  }
  return pools;
}

bool QuotaAnswers::eligible(ChargeClassId id, const Demand& demand) const {
  return classes_.present(id) && could_use(classes_[id], demand);
}

template <typename Visit>
void QuotaAnswers::for_each_choice(const Quota& quota, const Demand& demand, Visit&& visit) const {
  for (ChargeClassId id = kNoGpuClass + 1; id < classes_.size(); ++id) {
    if (!eligible(id, demand)) continue;
    visit(id, quotas_.line_of(quota, id), charge_of(demand, classes_[id]));
  }
}

template <typename Visit>
void QuotaAnswers::for_each_absent(const Quota& quota, const Demand& demand, Visit&& visit) const {
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

bool QuotaAnswers::never_fits_absent(const Quota& quota, const Demand& demand) const {
  bool some = false;
  bool fits = false;
  for_each_absent(quota, demand, [&](const auto& /*type*/, std::size_t line, GpuShare amount) {
    some = true;
    fits =
        fits || (quota.may_give(line, amount, demand.pods) && amount <= quota.lines[line].most());
  });
  return some && !fits;
}

Line::Answer QuotaAnswers::ask(const Account& account, std::size_t index, GpuShare amount,
                               const Demand& demand, HoldRank rank) {
  if (!account.quota.may_give(index, amount, demand.pods)) return {};
  return account.lines[index].ask(amount, account.quota.held_from(rank, index));
}

Admission QuotaAnswers::admit(QuotaId id, const Demand& demand, HoldRank rank,
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

Room QuotaAnswers::room_on(const ChargeClass& on, QuotaId id, const Demand& demand, HoldRank rank,
                           const LedgerTrial* in) const {
  if (!could_use(on, demand)) return Room::kNone;
  const Account of = account(id, in);
  const std::size_t line = line_for(of.quota.spec.lines, on.product);
  return ask(of, line, charge_of(demand, on), demand, rank).room;
}

LineAnswer QuotaAnswers::answer(const Account& account, std::size_t index, GpuShare amount,
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
                    .borrowed = line.pool() == nullptr ? GpuShare() : line.borrowed(),
                    .missing = said.missing,
                    .cohort = quota.spec.cohort,
                    .parent = quota.spec.parent};
  if (said.room != Room::kNone) return answer;
  const GpuShare kept = line.held() - quota.held_from(rank, index);  // for other pods
  if (quota.is_too_large(amount, demand.pods)) {
    answer.why = Why::kTooLarge;
    answer.limit = *quota.spec.most_per_pod;
  } else if (index == quota.spec.lines.size()) {
    answer.why = Why::kNoLine;
  } else if (!kept.is_zero() && line.used() + kept + amount > line.spec().guaranteed) {
    answer.why = Why::kKept;
  } else if (line.used() + amount > line.limit()) {
    answer.why = Why::kLimit;
    // What its own pods free: once within its guarantee, it does not wait for what others borrow.
    if (line.always_has_guarantee()) {
      const GpuShare beyond = (line.used() + amount).beyond(line.spec().guaranteed);
      answer.missing = std::min(answer.missing, beyond);
    }
  } else {
    const bool within = line.used() + amount <= line.spec().guaranteed;
    answer.why = within ? Why::kBound : Why::kCohort;
  }
  return answer;
}

std::vector<LineAnswer> QuotaAnswers::by_line(QuotaId id, const Demand& demand, HoldRank rank,
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

Standing QuotaAnswers::standing(QuotaId id, const Demand& demand, HoldRank rank,
                                const LedgerTrial* in) const {
  const Account of = account(id, in);
  bool within = false;
  std::optional<Standing> best;
  for_each_choice(of.quota, demand, [&](ChargeClassId /*on*/, std::size_t line, GpuShare amount) {
    if (within || !of.quota.may_give(line, amount, demand.pods)) return;
    within = ask(of, line, amount, demand, rank).room == Room::kGuaranteed;
    if (within) return;
    const Standing standing = standing_of(of.quota, of.lines[line]);
    if (!best || compare(standing, *best) < 0) best = standing;
  });
  return within ? Standing{} : best.value_or(uses_nothing());
}

Standing QuotaAnswers::standing_on(ChargeClassId on, QuotaId id, const Demand& demand,
                                   HoldRank rank, const LedgerTrial* in) const {
  const Account of = account(id, in);
  const std::size_t line = quotas_.line_of(of.quota, on);
  const GpuShare amount = charge_of(demand, classes_[on]);
  if (!eligible(on, demand) || !of.quota.may_give(line, amount, demand.pods)) return uses_nothing();
  if (ask(of, line, amount, demand, rank).room == Room::kGuaranteed) return {};
  return standing_of(of.quota, of.lines[line]);
}

Standing QuotaAnswers::standing_of(const Quota& quota, const Line& line) const {
  Standing standing;
  std::size_t level = 0;
  for (const Quota* at_level = &quota; at_level->parent; at_level = &quotas_.at(*at_level->parent))
    ++level;
  standing.levels[level] = share_of(line, quota.spec.weight);
  const Quota* inner = &quota;
  for (const Pool* pool = line.pool(); level > 0; pool = pool->outer()) {
    inner = &quotas_.at(*inner->parent);
    const Line& above = *pool->above;
    --level;
    if (above.used() < above.spec().guaranteed) continue;  // it has guarantee left
    standing.levels[level] = share_of(above, inner->spec.weight);
  }
  return standing;
}

std::vector<InPool> QuotaAnswers::in_pools(QuotaId id) const {
  std::vector<InPool> pools;
  const Quota& quota = quotas_.at(id);
  for (const Line& line : quota.lines) {
    if (line.pool() == nullptr) continue;
    if (line.used() >= std::max(line.limit(), line.spec().guaranteed)) continue;
    // The next pod of the quota may be within the guarantee and wait all the same, for GPUs that
    // are lent.
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

bool QuotaAnswers::lends(PoolId pool) const {
  const Pool* of = quotas_.pool(pool);
  return of != nullptr && of->gives();
}

bool QuotaAnswers::never_fits(QuotaId id, const Demand& demand) const {
  const Quota& quota = quotas_.at(id);
  bool some = false;
  bool fits = false;
  for_each_choice(quota, demand, [&](ChargeClassId /*on*/, std::size_t line, GpuShare amount) {
    some = true;
    if (!quota.may_give(line, amount, demand.pods)) return;
    fits = fits || amount <= quota.lines[line].most();
  });
  return some ? !fits : never_fits_absent(quota, demand);
}

bool QuotaAnswers::never_fit_together(QuotaId id, const std::vector<const Demand*>& pods) const {
  if (pods.empty()) return false;
  Demand all{.pods = 0, .allowed = pods.front()->allowed};
  for (const Demand* pod : pods) add(all, *pod);
  if (!never_fits(id, all)) return false;
  const Quota& quota = quotas_.at(id);
  std::set<std::size_t> lines;
  GpuShare sum;
  std::vector<GpuShare> all_asked;
  for (const Demand* pod : pods) {
    std::optional<GpuShare> asked;
    for_each_choice(quota, *pod, [&](ChargeClassId /*on*/, std::size_t line, GpuShare amount) {
      if (!quota.may_give(line, amount, pod->pods)) return;
      lines.insert(line);
      asked = std::min(asked.value_or(amount), amount);
    });
    if (!asked) return true;
    sum += *asked;
    all_asked.push_back(*asked);
  }
  GpuShare room;
  for (const std::size_t line : lines) room += quota.lines[line].most();
  if (sum > room) return true;
  // Of the pods that ask for so much or more, the lines must take all, each as many as it can.
  std::sort(all_asked.begin(), all_asked.end(), std::greater<>());
  for (std::size_t pods_so_large = 1; pods_so_large <= all_asked.size(); ++pods_so_large) {
    const GpuShare asked = all_asked[pods_so_large - 1];
    if (pods_so_large < all_asked.size() && all_asked[pods_so_large] == asked) continue;
    std::size_t fit = 0;
    for (const std::size_t line : lines) {
      const GpuShare most = quota.lines[line].most();
      for (GpuShare taken = asked; taken <= most && fit < pods_so_large; taken += asked) ++fit;
    }
    if (fit < pods_so_large) return true;
  }
  return false;
}

std::optional<Quota::Held> QuotaAnswers::best_hold(QuotaId id, const Demand& demand,
                                                   const std::vector<ChargeClassId>& classes,
                                                   bool alone) const {
  const Quota& quota = quotas_.at(id);
  std::optional<Quota::Held> best;
  GpuShare best_missing;
  for_each_choice(quota, demand, [&](ChargeClassId on, std::size_t line, GpuShare amount) {
    if (!quota.may_give(line, amount, demand.pods)) return;
    if (!std::binary_search(classes.begin(), classes.end(), on)) return;
    const Line& of = quota.lines[line];
    const GpuShare others = alone ? GpuShare() : of.held();
    if (others + amount > of.spec().guaranteed || !could_be_guaranteed(of, amount)) return;
    const GpuShare missing = (of.used() + others + amount).beyond(of.spec().guaranteed);
    if (best && best_missing <= missing) return;
    best = {.line = line, .amount = amount};
    best_missing = missing;
  });
  return best;
}

bool QuotaAnswers::could_be_within(QuotaId id, const Demand& demand) const {
  const Quota& quota = quotas_.at(id);
  bool could = false;
  for_each_choice(quota, demand, [&](ChargeClassId /*on*/, std::size_t line, GpuShare amount) {
    could = could || (quota.may_give(line, amount, demand.pods) &&
                      could_be_guaranteed(quota.lines[line], amount));
  });
  return could;
}

std::optional<std::pair<std::size_t, GpuShare>> QuotaAnswers::asks_of(QuotaId id,
                                                                      const Demand& demand) const {
  const Quota& quota = quotas_.at(id);
  // The order of classes decides nothing: it is another after a restart.
  struct Asked {
    GpuShare beyond_limit;
    GpuShare beyond_guarantee;
    std::size_t line = 0;
    GpuShare amount;
    auto operator<=>(const Asked&) const = default;
  };
  std::optional<Asked> least;
  for_each_choice(quota, demand, [&](ChargeClassId /*on*/, std::size_t line, GpuShare amount) {
    if (line == quota.spec.lines.size()) return;
    const Line& of = quota.lines[line];
    const GpuShare after = of.used() + amount;
    const Asked asked{.beyond_limit = after.beyond(of.limit()),
                      .beyond_guarantee = after.beyond(of.spec().guaranteed),
                      .line = line,
                      .amount = amount};
    least = least ? std::min(*least, asked) : asked;
  });
  if (!least) return std::nullopt;
  return std::pair(least->line, least->amount);
}

}  // namespace sched::quota
