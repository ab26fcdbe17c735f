#include "scheduler/engine/report/fit_reports.h"

#include "scheduler/engine/finder/score_caches.h"
#include "scheduler/engine/report/fit_error.h"
#include "scheduler/engine/report/shortage_report.h"

namespace sched {

const FitReport& FitReports::of(std::size_t profile, const ScoreCache& cache, const Scope& scope) {
  if (made_at_ != cache.position() || memory_ > kMostMemory) {
    entries_.clear();
    memory_ = 0;
  }
  made_at_ = cache.position();
  const auto [entry, is_new] =
      entries_.try_emplace({profile, cache.shape().id(), scope.set}, Entry{cache.shape(), {}});
  FitReport& report = entry->second.report;
  if (!is_new) return report;
  report = made(cache, scope);
  memory_ += sizeof(*entry) + report.message.capacity() + report.details.capacity() +
             ScoreCaches::kCopies * cache.shape().memory();
  return report;
}

FitReport FitReports::made(const ScoreCache& cache, const Scope& scope) const {
  ShortageReport shortages(cache.prepared(), names_);
  for (NodeSlot slot = 0; slot < nodes_.slots(); ++slot) {
    const auto verdict = cache.verdict(slot, scope);
    if (verdict) {
      shortages.add(nodes_.view(slot), *verdict, nodes_.rank(slot));
    } else if (cache.takes(slot, scope)) {
      shortages.add_passing();
    }
  }
  const VerdictCounts verdicts = cache.verdicts(scope);
  return {.message = fit_error(nodes_.size(), cache.prepared(), verdicts),
          .details = shortages.text(),
          .plugins = refusing_plugins(cache.prepared(), verdicts)};
}

}  // namespace sched
