// The rules of quotas that are parts of others (scheduler/quota/README.md), in whole GPUs of one
// type, each answer worked out anew from what its pods use: what the ledger is held against.
#pragma once

#include "scheduler/quota/line.h"
#include "tests/support/gpu_quotas.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace tests {

class QuotaRules {
 public:
  struct Quota {
    std::optional<std::size_t> parent;
    bool in_cohort = false;
    int guaranteed = 0;
    int lendable = 0;
    std::optional<int> limit;
    int used = 0;
  };
  std::vector<Quota> quotas;
  bool bounded = false;

  int uses(std::size_t q) const {
    int sum = quotas[q].used;
    for (const std::size_t child : children(q)) sum += claims(child);
    return sum;
  }
  int in_use(std::size_t q) const {
    int sum = quotas[q].used;
    for (const std::size_t child : children(q)) sum += in_use(child);
    return sum;
  }
  // "q1 in q0: 3 of 4, lends 2, limit 6", a line each.
  std::string text() const {
    std::string all;
    for (std::size_t q = 0; q < quotas.size(); ++q) {
      const Quota& quota = quotas[q];
      all += "q" + std::to_string(q);
      if (quota.parent) all += " in q" + std::to_string(*quota.parent);
      if (quota.in_cohort) all += " in the cohort";
      all += ": " + std::to_string(uses(q)) + " of " + std::to_string(quota.guaranteed) +
             ", lends " + std::to_string(quota.lendable);
      if (quota.limit) all += ", limit " + std::to_string(*quota.limit);
      all += "\n";
    }
    return all;
  }
  sched::quota::Room room(std::size_t q, int amount) const {
    QuotaRules after = *this;
    after.quotas[q].used += amount;
    for (std::optional<std::size_t> above = quotas[q].parent; above;
         above = quotas[*above].parent) {
      const std::optional<int>& limit = quotas[*above].limit;
      if (limit && after.in_use(*above) > *limit) return sched::quota::Room::kNone;
    }
    return judge(after, q, false);
  }
  // The same of a pod that nothing runs beside.
  QuotaRules while_idle() const {
    QuotaRules idle = *this;
    for (Quota& quota : idle.quotas) quota.used = 0;
    return idle;
  }

 private:
  std::vector<std::size_t> children(std::size_t q) const {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < quotas.size(); ++i) {
      if (quotas[i].parent == q) all.push_back(i);
    }
    return all;
  }
  int idle(std::size_t q) const { return std::max(0, quotas[q].guaranteed - uses(q)); }
  int to_lend(std::size_t q) const { return std::min(quotas[q].lendable, idle(q)); }
  int claims(std::size_t q) const {
    const bool keeps = !is_overpromised(*quotas[q].parent);
    return uses(q) + (keeps ? idle(q) - to_lend(q) : 0);
  }
  int limit(std::size_t q) const {
    const Quota& quota = quotas[q];
    if (quota.limit) return *quota.limit;
    const QuotaRules idle = while_idle();
    int most = quota.parent ? limit(*quota.parent) : quota.guaranteed;
    for (std::size_t i = 0; i < quotas.size(); ++i) {
      if (i == q || quotas[i].parent != quota.parent) continue;
      if (quota.parent) most -= idle.claims(i);
      if (!quota.parent && quota.in_cohort && quotas[i].in_cohort) most += idle.to_lend(i);
    }
    return std::max(0, most);
  }
  bool is_overpromised(std::size_t parent) const {
    int sum = 0;
    for (const std::size_t child : children(parent)) sum += quotas[child].guaranteed;
    return sum > quotas[parent].guaranteed;
  }
  bool asks_for_all(std::size_t parent) const { return bounded || is_overpromised(parent); }
  // `then`: with what is asked for. `owner`: it is a guarantee inside it that is taken back.
  sched::quota::Room judge(const QuotaRules& then, std::size_t q, bool owner) const {
    const Quota& quota = quotas[q];
    const int after = then.uses(q);
    const auto above = [&](bool as_owner) {
      if (then.uses(*quota.parent) == uses(*quota.parent)) return sched::quota::Room::kGuaranteed;
      return judge(then, *quota.parent, as_owner);
    };
    const bool asks_on = quota.parent && asks_for_all(*quota.parent);
    if (after <= quota.guaranteed) {
      if (quota.parent) return above(!asks_on);
      if (!bounded || !quota.in_cohort) return sched::quota::Room::kGuaranteed;
      int used = 0;
      int guaranteed = 0;
      for (std::size_t i = 0; i < quotas.size(); ++i) {
        if (!quotas[i].in_cohort) continue;
        used += then.uses(i);
        guaranteed += quotas[i].guaranteed;
      }
      return used <= guaranteed ? sched::quota::Room::kGuaranteed : sched::quota::Room::kNone;
    }
    if (owner && !asks_on) {
      if (quota.limit && after > *quota.limit) return sched::quota::Room::kNone;
      return quota.parent ? above(true) : sched::quota::Room::kGuaranteed;
    }
    if (after > limit(q)) return sched::quota::Room::kNone;
    if (quota.parent)
      return above(false) == sched::quota::Room::kNone ? sched::quota::Room::kNone
                                                       : sched::quota::Room::kBorrowed;
    int borrowed = 0;
    int lent = 0;
    for (std::size_t i = 0; i < quotas.size(); ++i) {
      if (!quotas[i].in_cohort) continue;
      borrowed += std::max(0, then.uses(i) - quotas[i].guaranteed);
      lent += then.to_lend(i);
    }
    return quota.in_cohort && borrowed <= lent ? sched::quota::Room::kBorrowed
                                               : sched::quota::Room::kNone;
  }
};

// A tree at random of up to three levels, under two or three roots of one cohort, or of none. Quota
// i is called "q<i>", and has a namespace of that name if it has no children.
class RandomQuotas {
 public:
  RandomQuotas(std::mt19937& random, bool bounded) : random_(random) {
    rules.bounded = bounded;
    const bool cohort = draw(2) != 0;
    grow(std::nullopt, cohort, 0);
    grow(std::nullopt, cohort, 0);
    if (draw(2) == 0) grow(std::nullopt, cohort, 0);
  }
  static std::string name(std::size_t quota) { return "q" + std::to_string(quota); }

  QuotaRules rules;
  std::vector<k8s::GpuQuota> objects;
  std::vector<std::size_t> leaves;

 private:
  int draw(unsigned below) { return static_cast<int>(random_() % below); }
  void grow(std::optional<std::size_t> parent, bool cohort, int level) {
    const std::size_t at = rules.quotas.size();
    QuotaRules::Quota quota;
    quota.parent = parent;
    quota.in_cohort = cohort && !parent;
    quota.guaranteed = draw(6) + (level == 0 ? 6 : 0);
    quota.lendable = quota.guaranteed;
    const bool lends = quota.in_cohort || parent;
    if (lends && draw(3) == 0) quota.lendable = draw(static_cast<unsigned>(quota.guaranteed) + 1);
    if (lends && draw(3) == 0) quota.limit = quota.guaranteed + draw(6);
    rules.quotas.push_back(quota);
    const int children = level < 2 && draw(3) != 0 ? 1 + draw(3) : 0;
    auto made = gpu_quota(name(at)).line("H100", quota.guaranteed);
    if (lends) made.lendable(quota.lendable);
    if (quota.limit) made.limit(*quota.limit);
    if (parent) made.in_quota(name(*parent));
    if (quota.in_cohort) made.in_cohort("c");
    if (children == 0) {
      made.of(name(at));
      leaves.push_back(at);
    }
    objects.push_back(made);
    for (int i = 0; i < children; ++i) grow(at, cohort, level + 1);
  }

  std::mt19937& random_;
};

}  // namespace tests
