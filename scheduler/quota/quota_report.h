// What people are shown of quotas: the account of each, what is wrong with it, and which pods use
// and borrow what.
#pragma once

#include "k8s-client/api/gpu_quota.h"
#include "scheduler/base/types.h"
#include "scheduler/quota/assignment.h"
#include "scheduler/quota/charge_class.h"
#include "scheduler/quota/charges.h"
#include "scheduler/quota/gpu_share.h"
#include "scheduler/quota/guarantee_checks.h"
#include "scheduler/quota/lent_shares.h"
#include "scheduler/quota/quotas.h"

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sched::quota {

// What a pod uses beyond its quota's guarantee.
struct Loan {
  std::string uid;         // of the pod
  std::string namespace_;  // the pod's
  Time at{};               // when it was charged
  QuotaId quota{};
  std::size_t line = 0;
  GpuShare amount;  // the part of its charge that is borrowed
  friend bool operator==(const Loan&, const Loan&) = default;
};

// What the pods of a namespace use of a line.
struct NamespaceUse {
  std::string namespace_;
  QuotaId quota{};
  std::size_t line = 0;
  std::size_t pods = 0;
  GpuShare amount;
};

class QuotaReport {
 public:
  // All outlive the object.
  QuotaReport(const Quotas& quotas, const ChargeClasses& classes, Assignment& assignment,
              const Charges& charges)
      : quotas_(quotas),
        classes_(classes),
        assignment_(assignment),
        charges_(charges),
        lent_(quotas),
        guarantees_(quotas, classes) {}

  // The quotas have been arranged anew.
  void rebuild();
  // The account of the quota has changed / the pool's lines have / every quota's account may have.
  void changed(QuotaId quota) { changed_.insert(quota); }
  void changed(PoolId pool) { lent_.changed(pool); }
  void all_changed();
  // As GuaranteeChecks::offers().
  void offers(ChargeClassId on, GpuShare before, GpuShare now) {
    guarantees_.offers(on, before, now);
  }

  // The quota's account; `pending`, by line, is what its waiting pods ask for.
  // O(its lines · classes), and O(lines of a pool) once for each pool that has changed.
  [[nodiscard]] k8s::GpuQuota::Status status(QuotaId quota,
                                             const std::vector<GpuShare>& pending) const;
  // Why the quota's spec is not applied, or why it gives its own namespaces nothing; nullopt:
  // nothing is wrong.
  [[nodiscard]] std::optional<std::string> error_of(QuotaId quota) const;
  // The use of each line by namespace. O(charges).
  [[nodiscard]] std::vector<NamespaceUse> uses() const;
  // What is borrowed, by pod, the latest loan first: of each line that borrows, the pods that were
  // charged last. O(charges).
  [[nodiscard]] std::vector<Loan> loans() const;
  // The quotas for which status() may have changed since the last call, apart from `pending`; also
  // those that no longer exist. O(their number + lines of pools that changed).
  [[nodiscard]] std::set<QuotaId> take_changes();

 private:
  [[nodiscard]] std::vector<k8s::Condition> conditions(QuotaId id) const;
  // `has_gpus`: some node has GPUs of its types.
  [[nodiscard]] k8s::Condition ready(QuotaId id, bool has_gpus) const;
  [[nodiscard]] bool is_known(const LineSpec& line) const;

  const Quotas& quotas_;
  const ChargeClasses& classes_;
  Assignment& assignment_;
  const Charges& charges_;
  LentShares lent_;
  GuaranteeChecks guarantees_;
  std::set<QuotaId> changed_;
};

}  // namespace sched::quota
