#include "scheduler/engine/report/fit_reports.h"

#include "scheduler/engine/finder/score_caches.h"
#include "scheduler/engine/report/fit_error.h"
#include "scheduler/engine/report/shortage_report.h"

namespace sched {

const FitReport& FitReports::of(std::size_t profile, const ScoreCache& cache, const Scope& scope,
                                Time now) {
  if (memory_ > kMostMemory) {
    entries_.clear();
    memory_ = 0;
  }
  const auto [at, is_new] = entries_.try_emplace({profile, cache.shape().id(), scope.set},
                                                 Entry{.shape = cache.shape(), .report = {}});
  Entry& entry = at->second;
  FitReport& report = entry.report;
  if (!is_new && entry.details_of == cache.position()) return report;
  const VerdictCounts verdicts = cache.verdicts(scope);
  report.message = fit_error(nodes_.size(), cache.prepared(), verdicts);
  report.plugins = refusing_plugins(cache.prepared(), verdicts);
  const bool is_allowed = allowance_.any_left(now);
  if (is_allowed || is_new || now - entry.details_made >= kOldest) {
    report.details = details(cache, scope);
    entry.details_of = cache.position();
    entry.details_made = now;
    allowance_.spend(nodes_.slots());
  }
  memory_ -= entry.memory;
  entry.memory = sizeof(*at) + report.message.capacity() + report.details.capacity() +
                 ScoreCaches::kCopies * cache.shape().memory();
  memory_ += entry.memory;
  return report;
}

std::string FitReports::details(const ScoreCache& cache, const Scope& scope) const {
  ShortageReport shortages(cache.prepared(), names_);
  for (NodeSlot slot = 0; slot < nodes_.slots(); ++slot) {
    const auto verdict = cache.verdict(slot, scope);
    if (verdict) {
      shortages.add(nodes_.view(slot), *verdict, nodes_.rank(slot));
    } else if (cache.takes(slot, scope)) {
      shortages.add_passing();
    }
  }
  return shortages.text();
}

}  // namespace sched
