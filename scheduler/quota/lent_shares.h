// Which quotas lend what a pool has lent: its lines, each in proportion to what it has idle.
//
// Shares are computed when they are asked for: between two questions many pods may come and go.
#pragma once

#include "scheduler/quota/assignment.h"
#include "scheduler/quota/gpu_share.h"
#include "scheduler/quota/line.h"
#include "scheduler/quota/quotas.h"

#include <cstddef>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace sched::quota {

class LentShares {
 public:
  // `quotas` outlives the object.
  explicit LentShares(const Quotas& quotas) : quotas_(quotas) {}

  // The quotas have been arranged anew.
  void rebuild();
  // The pool's lines have other amounts than before.
  void changed(PoolId pool);

  // What the line has lent.
  [[nodiscard]] GpuShare of(QuotaId quota, std::size_t line) const;
  // Whether more is borrowed from the pool than its lenders have to spare.
  [[nodiscard]] bool is_overlent(PoolId pool) const { return up_to_date(pool).overlent; }
  // The quotas for which an answer may have changed since the last call. O(lines of pools that
  // changed).
  [[nodiscard]] std::set<QuotaId> take_changes();

 private:
  struct Lender {
    QuotaId quota{};
    std::size_t line = 0;
    GpuShare lent;
  };
  struct Lending {
    std::vector<Lender> lenders;
    bool stale = false;
    bool overlent = false;
  };
  const Lending& up_to_date(PoolId pool) const;
  void share_out(const Pool& pool, Lending& lending) const;

  const Quotas& quotas_;
  mutable std::vector<Lending> by_pool_;
  std::map<std::pair<QuotaId, std::size_t>, std::size_t> lender_at_;  // index in its pool's lenders
  std::vector<PoolId> stale_;  // and perhaps some that are up to date
  mutable std::set<QuotaId> changed_;
};

}  // namespace sched::quota
