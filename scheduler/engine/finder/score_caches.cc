#include "scheduler/engine/finder/score_caches.h"

#include "scheduler/engine/report/fit_error.h"
#include "scheduler/engine/report/shortage_report.h"

#include <algorithm>
#include <iterator>

namespace sched {

ScoreCaches::ScoreCaches(const Nodes& nodes, const std::vector<Profile>& profiles,
                         const ResourceNames& names, WorkloadStatistics& statistics,
                         std::size_t memory)
    : nodes_(nodes),
      profiles_(profiles),
      names_(names),
      statistics_(statistics),
      memory_limit_(memory) {
  for (const Profile& profile : profiles_) {
    reads_statistics_.push_back(
        std::any_of(profile.scores.begin(), profile.scores.end(),
                    [](const WeightedScore& score) { return score.plugin->reads_statistics(); }));
  }
}

ScoreCache& ScoreCaches::get(std::size_t profile, const ShapeRef& shape, Scope scope) {
  static_cast<void>(statistics_.current());
  Entry& found = entry(profile, shape, scope);
  found.cache.catch_up();
  account(found);
  return found.cache;
}

const FitReport& ScoreCaches::report(std::size_t profile, const ShapeRef& shape, Scope scope) {
  Entry& found = entry(profile, shape, scope);
  const ScoreCache& cache = found.cache;
  if (found.reported_at == cache.position() && found.reported_at != 0) return found.report;

  ShortageReport shortages(cache.prepared(), names_);
  for (NodeSlot slot = 0; slot < nodes_.slots(); ++slot) {
    const NodeVerdict* verdict = cache.verdict(slot);
    if (verdict != nullptr) shortages.add(nodes_.view(slot), *verdict, nodes_.rank(slot));
  }
  found.report = {.message = fit_error(nodes_.size(), cache.prepared(), cache.verdicts()),
                  .details = shortages.text(),
                  .plugins = refusing_plugins(cache.prepared(), cache.verdicts())};
  found.reported_at = cache.position();
  account(found);
  return found.report;
}

ScoreCaches::Entry& ScoreCaches::entry(std::size_t profile, const ShapeRef& shape, Scope scope) {
  const Key key{profile, shape.id(), scope.set};
  const auto found = by_key_.find(key);
  if (found != by_key_.end()) {
    if (!is_stale(*found->second) || renew(*found->second)) {
      entries_.splice(entries_.begin(), entries_, found->second);
      return entries_.front();
    }
    drop(found->second);
  }
  const ClusterContextPtr& cluster = statistics_.last();
  entries_.push_front(
      {.key = key,
       .cache = ScoreCache(nodes_, profiles_[profile], shape, {names_, cluster}, scope),
       .version = cluster->version,
       .memory = 0,
       .report = {},
       .reported_at = 0});
  by_key_.emplace(key, entries_.begin());
  return entries_.front();
}

void ScoreCaches::account(Entry& entry) {
  memory_ -= entry.memory;
  entry.memory = kMemoryOfShape + entry.cache.memory() + entry.report.message.capacity() +
                 entry.report.details.capacity();
  memory_ += entry.memory;
  while (memory_ > memory_limit_ && entries_.size() > 1) {
    drop(std::prev(entries_.end()));
  }
}

bool ScoreCaches::is_stale(const Entry& entry) {
  return reads_statistics_[std::get<0>(entry.key)] && entry.version != statistics_.last()->version;
}

bool ScoreCaches::renew(Entry& entry) {
  const ClusterContextPtr& cluster = statistics_.last();
  if (!entry.cache.renew({names_, cluster})) return false;
  entry.version = cluster->version;
  return true;
}

void ScoreCaches::drop(std::list<Entry>::iterator entry) {
  memory_ -= entry->memory;
  by_key_.erase(entry->key);
  entries_.erase(entry);
}

}  // namespace sched
