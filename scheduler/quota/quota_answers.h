// What the quotas answer about a pod that asks for GPUs: where it has room, what each line says,
// whose turn is first, what it might take back. Changes nothing.
#pragma once

#include "scheduler/quota/admission.h"
#include "scheduler/quota/assignment.h"
#include "scheduler/quota/charge_class.h"
#include "scheduler/quota/charges.h"
#include "scheduler/quota/demand.h"
#include "scheduler/quota/gpu_share.h"
#include "scheduler/quota/line.h"
#include "scheduler/quota/quotas.h"
#include "scheduler/quota/standing.h"

#include <cstddef>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace sched::quota {

class LedgerTrial;

class QuotaAnswers {
 public:
  // Both outlive the object.
  QuotaAnswers(const Quotas& quotas, const ChargeClasses& classes)
      : quotas_(quotas), classes_(classes) {}

  // Where the pod has room. `rank`: of the pod among those for which the quota holds something.
  // `in`: a trial's accounts (ledger_trial.h); null: the real ones. O(classes · quota lines).
  [[nodiscard]] Admission admit(QuotaId quota, const Demand& demand, HoldRank rank,
                                const LedgerTrial* in = nullptr) const;
  // Whether the pod has room on GPUs of that class, whether or not there is a node of it.
  [[nodiscard]] Room room_on(const ChargeClass& on, QuotaId quota, const Demand& demand,
                             HoldRank rank, const LedgerTrial* in = nullptr) const;
  // The same as admit() by line, for messages; one answer for each line that the pod may be charged
  // to.
  [[nodiscard]] std::vector<LineAnswer> by_line(QuotaId quota, const Demand& demand, HoldRank rank,
                                                const LedgerTrial* in = nullptr) const;
  // Where the quota stands for a pod with this demand. O(classes + lines of the quota).
  [[nodiscard]] Standing standing(QuotaId quota, const Demand& demand, HoldRank rank,
                                  const LedgerTrial* in = nullptr) const;
  // The same if the pod is to be charged on a node of class `on`, whatever other types it may use.
  [[nodiscard]] Standing standing_on(ChargeClassId on, QuotaId quota, const Demand& demand,
                                     HoldRank rank, const LedgerTrial* in = nullptr) const;
  // The pools from which the quota's lines may borrow more within their limits, and where the quota
  // stands in each.
  [[nodiscard]] std::vector<InPool> in_pools(QuotaId quota) const;
  // Whether the pool has something left to lend.
  [[nodiscard]] bool lends(PoolId pool) const;

  // Whether the demand is more than the quota could ever give, borrowed or not, on every type of
  // GPU that exists. If the demand allows none of those, on the types that it names.
  [[nodiscard]] bool never_fits(QuotaId quota, const Demand& demand) const;
  // The same of several pods at the same time, of which each may be charged to another line. False
  // may be wrong where they ask for different amounts. O(pods · (amounts + classes)).
  [[nodiscard]] bool never_fit_together(QuotaId quota,
                                        const std::vector<const Demand*>& pods) const;
  // Whether a pod with this demand could ever be within the guarantee.
  [[nodiscard]] bool could_be_within(QuotaId quota, const Demand& demand) const;
  // The same on one of those classes (by ascending id): whether Ledger::hold() could keep quota for
  // it if nothing else were held.
  [[nodiscard]] bool could_hold(QuotaId quota, const Demand& demand,
                                const std::vector<ChargeClassId>& classes) const {
    return best_hold(quota, demand, classes, true).has_value();
  }
  // What Ledger::hold() would hold, and on which line. `alone`: if nothing else were held.
  [[nodiscard]] std::optional<Quota::Held> best_hold(QuotaId quota, const Demand& demand,
                                                     const std::vector<ChargeClassId>& classes,
                                                     bool alone) const;
  // The line of the quota that a waiting pod asks for, and how much of it: the line that would then
  // be least beyond its limit; if equal, least beyond its guarantee; if equal, the first line, and
  // the least amount of it. Nullopt: none. What others in the cohort use does not matter.
  [[nodiscard]] std::optional<std::pair<std::size_t, GpuShare>> asks_of(QuotaId quota,
                                                                        const Demand& demand) const;

  // The part of a pod's GPUs that its quota has borrowed, as seen by another quota, which may want
  // them back.
  struct BorrowedPart {
    // The pool from which both quotas borrow, counted from that of the other's line (0) to that of
    // its parent's (1) and on; kNoPool: they share none.
    std::size_t pool = 0;
    // The rest: guaranteed to the pod's quota, or to one of its parents that is not also a parent
    // of the other quota.
    GpuShare guaranteed;
  };
  static constexpr std::size_t kNoPool = std::numeric_limits<std::size_t>::max();
  // Nullopt: nothing is borrowed. The other's line is that for GPUs like the charge's.
  [[nodiscard]] std::optional<BorrowedPart> loan_of(const Charge& charge, QuotaId seen_by,
                                                    const LedgerTrial* in = nullptr) const;
  // In how many of the pools that loan_of() counts the quota may take back what is borrowed, for a
  // pod with this demand and rank on a node of class `on`, if that stays within the guarantee of
  // its line: up to the parent that would then claim more than it is guaranteed itself.
  [[nodiscard]] std::size_t pools_to_reclaim(QuotaId quota, const Demand& demand, HoldRank rank,
                                             ChargeClassId on,
                                             const LedgerTrial* in = nullptr) const;

 private:
  // A quota with its lines as they are, or as they would be.
  struct Account {
    const Quota& quota;
    const std::vector<Line>& lines;
  };
  [[nodiscard]] Account account(QuotaId quota, const LedgerTrial* in) const;
  // Where a quota stands if it borrows for that line.
  [[nodiscard]] Standing standing_of(const Quota& quota, const Line& line) const;
  [[nodiscard]] bool eligible(ChargeClassId id, const Demand& demand) const;
  // Calls visit(class, line index, amount) for every class that exists and that the demand allows.
  template <typename Visit>
  void for_each_choice(const Quota& quota, const Demand& demand, Visit&& visit) const;
  // For a pod that allows none of the existing classes and asks for whole GPUs of types that it
  // names: calls visit(type, line index, amount) for every line to which such a GPU may be charged;
  // with the index behind the last line if there is none.
  template <typename Visit>
  void for_each_absent(const Quota& quota, const Demand& demand, Visit&& visit) const;
  // Whether no line could ever give such a pod that many GPUs.
  [[nodiscard]] bool never_fits_absent(const Quota& quota, const Demand& demand) const;
  [[nodiscard]] static Line::Answer ask(const Account& account, std::size_t line, GpuShare amount,
                                        const Demand& demand, HoldRank rank);
  [[nodiscard]] static LineAnswer answer(const Account& account, std::size_t line, GpuShare amount,
                                         const Demand& demand, HoldRank rank);

  const Quotas& quotas_;
  const ChargeClasses& classes_;
};

}  // namespace sched::quota
