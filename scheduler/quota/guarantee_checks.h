// What is wrong with the guarantees of all quotas together: more is guaranteed of a type of GPU
// than there is, or lines of one cohort are for the same GPUs and lend each other nothing.
#pragma once

#include "scheduler/quota/assignment.h"
#include "scheduler/quota/charge_class.h"
#include "scheduler/quota/gpu_share.h"
#include "scheduler/quota/quotas.h"
#include "scheduler/quota/spec.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace sched::quota {

class GuaranteeChecks {
 public:
  // What all quotas guarantee of a type, and how much of it exists.
  struct Cover {
    GpuShare guaranteed;
    GpuShare offered;
    friend bool operator==(const Cover&, const Cover&) = default;
  };

  // Both outlive the object.
  GuaranteeChecks(const Quotas& quotas, const ChargeClasses& classes)
      : quotas_(quotas), classes_(classes) {}

  // The quotas have been arranged anew.
  void rebuild();
  // A node of that class offers so many GPUs now, and offered `before`. A new node offered none
  // before, a removed node offers none now.
  void offers(ChargeClassId on, GpuShare before, GpuShare now);

  // Null: no more is guaranteed of the line's type than there is.
  [[nodiscard]] const Cover* uncovered(const LineSpec& line) const;
  // Of a quota, as text: lines of its cohort for the same GPUs that lend each other nothing.
  [[nodiscard]] std::vector<std::string> lent_apart(QuotaId quota) const;
  // The quotas for which an answer may have changed since the last call.
  [[nodiscard]] std::set<QuotaId> take_changes();

 private:
  // Computes covers_ again.
  void sum_up() const;
  void list_lent_apart(const std::vector<QuotaId>& cohort, const LineSpec& type,
                       const LineSpec& other);

  const Quotas& quotas_;
  const ChargeClasses& classes_;
  std::vector<GpuShare> offered_;                // by class
  mutable std::map<std::string, Cover> covers_;  // by type_key, if too little exists
  mutable bool stale_ = true;                    // covers_ is out of date
  mutable std::set<QuotaId> changed_;
  std::map<QuotaId, std::vector<std::string>> lent_apart_;
};

}  // namespace sched::quota
