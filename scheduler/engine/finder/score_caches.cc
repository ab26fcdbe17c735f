#include "scheduler/engine/finder/score_caches.h"

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
      memory_limit_(memory),
      refused_(nodes, memory / 2) {
  for (const Profile& profile : profiles_) {
    reads_statistics_.push_back(
        std::any_of(profile.scores.begin(), profile.scores.end(),
                    [](const WeightedScore& score) { return score.plugin->reads_statistics(); }));
  }
}

ScoreCache& ScoreCaches::get(std::size_t profile, const ShapeRef& shape, const Scope& scope) {
  static_cast<void>(statistics_.current(nodes_));
  Entry& found = entry(profile, shape);
  found.cache.catch_up(scope);
  account(found);
  return found.cache;
}

ScoreCache& ScoreCaches::get(std::size_t profile, const ShapeRef& shape, const Scope& scope,
                             const Ruling& ruling) {
  static_cast<void>(statistics_.current(nodes_));
  Counts counts{};
  const auto by_node = ruling.counts_by_node();
  for (std::size_t i = 0; i < std::min(counts.size(), by_node.size()); ++i) {
    counts[i] = by_node[i].get();
  }
  // The entry's cache shares ownership of these tallies, so their addresses stay unique.
  Entry& found = entry(profile, shape, counts);
  found.cache.split_by(ruling);
  found.cache.catch_up(scope);
  account(found);
  return found.cache;
}

std::optional<RefusedBy> ScoreCaches::known_refusal(std::size_t profile, const ShapeRef& shape) {
  const auto found = by_key_.find({.profile = profile, .shape = shape.id()});
  if (found == by_key_.end()) return refused_.known(profile, shape.id());
  // As get() does, so that a new version comes at the same question whichever of both is asked. The
  // entry may stay with an old one: no verdict depends on it.
  static_cast<void>(statistics_.current(nodes_));
  entries_.splice(entries_.begin(), entries_, found->second);
  Entry& entry = entries_.front();
  entry.cache.catch_up();
  account(entry);
  return entry.cache.refused_by();
}

ScoreCaches::Entry& ScoreCaches::entry(std::size_t profile, const ShapeRef& shape,
                                       const Counts& counts) {
  const Key key{.profile = profile, .shape = shape.id(), .counts = counts};
  const auto found = by_key_.find(key);
  if (found != by_key_.end()) {
    if (!is_stale(*found->second) || renew(*found->second)) {
      entries_.splice(entries_.begin(), entries_, found->second);
      return entries_.front();
    }
    drop(found->second);
  }
  if (counts == Counts{}) refused_.remove(profile, shape.id());
  const ClusterContextPtr& cluster = statistics_.last();
  entries_.push_front(
      {.key = key,
       .cache = ScoreCache(nodes_, profiles_[profile], shape, {names_, cluster}, ruled_out_.add()),
       .version = cluster->version,
       .memory = 0});
  by_key_.emplace(key, entries_.begin());
  if (!entries_.front().cache.prepared().rejection()) searched_ += nodes_.size();
  return entries_.front();
}

void ScoreCaches::account(Entry& entry) {
  memory_ -= entry.memory;
  entry.memory = memory_of(entry.cache.shape()) + entry.cache.memory();
  memory_ += entry.memory;
  while (memory_ + refused_.memory() > memory_limit_ && entries_.size() > 1) make_room();
}

void ScoreCaches::make_room() {
  const auto oldest = std::prev(entries_.end());
  ScoreCache& cache = oldest->cache;
  // With few nodes this would save nothing.
  const bool is_large = cache.memory() > kMemoryOfShape;
  const std::optional<RefusedBy> by = cache.refused_by();
  if (is_large && oldest->key.counts == Counts{} && !cache.prepared().rejection() && by) {
    const ShapeRef shape = cache.shape();
    const ChangeLog::Position position = cache.position();
    refused_.add(oldest->key.profile, shape, std::move(cache).take_prepared(), *by, position,
                 memory_of(shape));
  }
  drop(oldest);
}

bool ScoreCaches::is_stale(const Entry& entry) {
  return reads_statistics_[entry.key.profile] && entry.version != statistics_.last()->version;
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
