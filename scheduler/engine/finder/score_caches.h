// The score caches of the shapes that are asked for, within a bound of memory.
//
// Which caches are there changes how long an answer takes, never the answer. On many nodes what
// counts is the arrays by node, on few what a shape takes itself. The least recently
// used go first when the bound is passed; the one just asked for always stays. Of those that no
// node takes, and that is most of what waits, a fraction is kept then (refused_shapes.h). A cache
// that was prepared with an old version of the cluster's statistics takes over the new one when it
// is asked for.
#pragma once

#include "scheduler/cluster/workload.h"
#include "scheduler/engine/finder/refused_shapes.h"
#include "scheduler/engine/finder/score_cache.h"

#include <array>
#include <cstddef>
#include <list>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace sched {

// What a pod of a shape is told when no node takes it.
struct FitReport {
  std::string message;
  std::string details;
  std::vector<std::string> plugins;
};

class ScoreCaches {
 public:
  // Some 500 shapes on 100,000 nodes (1 MB each among the hundred of `bench decide`), and 30,000
  // that no node takes; on a few nodes some 60,000.
  static constexpr std::size_t kDefaultMemory = std::size_t{512} << 20;

  // All borrowed things outlive the caches.
  ScoreCaches(const Nodes& nodes, const std::vector<Profile>& profiles, const ResourceNames& names,
              WorkloadStatistics& statistics, std::size_t memory = kDefaultMemory);

  // The cache of the shape under the profile of that index, caught up for questions about that
  // scope. The reference holds until the next call.
  ScoreCache& get(std::size_t profile, const ShapeRef& shape, const Scope& scope = {});
  // The same for questions that leave those nodes out (ScoreCache::split_by). Where they are left
  // out by what is counted on them, the pods about which the same is counted have a cache of their
  // own.
  ScoreCache& get(std::size_t profile, const ShapeRef& shape, const Scope& scope,
                  const Ruling& ruling);

  // Why the shape fits on no node of the scope; get() must have been called with it since the last
  // change. Worded once per change of the nodes.
  const FitReport& report(std::size_t profile, const ShapeRef& shape, const Scope& scope = {});

  // Whether it is known, without more ado, that no node takes the shape. False says nothing.
  // O(nodes that changed since it was last asked · filters).
  [[nodiscard]] bool knows_refused(std::size_t profile, const ShapeRef& shape) {
    return refused_.knows(profile, shape.id());
  }

  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  // How many more are known to be refused everywhere.
  [[nodiscard]] std::size_t refused() const { return refused_.size(); }

  // What a shape takes besides its cache's arrays and its report's words: the shape and its key,
  // the prepared filters and scores, the kinds of verdicts, and what holds them together.
  static constexpr std::size_t kMemoryOfShape = 8 * 1024;
  // What a large one takes beyond that, in sizes of its key: the key, the shape, whose texts are
  // objects each, and what filters and scores have copied of it. An affinity of 0.6 MB took 3 MB.
  static constexpr std::size_t kCopiesOfKey = 5;

 private:
  // Counts by which nodes are left out; null: none, or one less.
  using Counts = std::array<const Tally*, ScoreCache::kMostCounts>;
  struct Key {
    std::size_t profile = 0;
    ShapeId shape{};
    Counts counts{};
    friend bool operator<(const Key& a, const Key& b) {
      if (a.shape != b.shape) return a.shape < b.shape;
      return a.profile != b.profile ? a.profile < b.profile : a.counts < b.counts;
    }
  };
  struct Entry {
    Key key;
    ScoreCache cache;
    std::uint64_t version = 0;                       // of the statistics that it was prepared with
    std::size_t memory = 0;                          // as counted in memory_
    std::map<quota::ClassSetId, FitReport> reports;  // by scope
    ChangeLog::Position reported_at = 0;             // of the nodes that they are about
  };
  Entry& entry(std::size_t profile, const ShapeRef& shape, const Counts& counts = {});
  [[nodiscard]] bool is_stale(const Entry& entry);
  [[nodiscard]] bool renew(Entry& entry);
  void drop(std::list<Entry>::iterator entry);
  // The least recently used goes.
  void make_room();
  void account(Entry& entry);

  const Nodes& nodes_;
  const std::vector<Profile>& profiles_;
  const ResourceNames& names_;
  WorkloadStatistics& statistics_;
  std::vector<bool> reads_statistics_;  // by profile
  std::size_t memory_limit_;
  std::size_t memory_ = 0;
  std::list<Entry> entries_;  // the most recently used first
  std::map<Key, std::list<Entry>::iterator> by_key_;
  RefusedShapes refused_;  // none of which is in entries_ without counts
};

}  // namespace sched
