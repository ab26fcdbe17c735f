// The score caches of the shapes that are asked for, within a limit of memory.
//
// Which caches exist changes how long an answer takes, never the answer. With many nodes most of
// the memory is the arrays by node, with few nodes what a shape itself takes. When the limit is
// exceeded, the least recently used caches are dropped; the one just asked for stays. If no node
// takes a dropped shape, which is so for most that wait, a small part is kept (refused_shapes.h). A
// cache that was prepared with an old version of the cluster's statistics takes over the new one
// when it is asked for.
#pragma once

#include "scheduler/cluster/workload.h"
#include "scheduler/engine/finder/refused_shapes.h"
#include "scheduler/engine/finder/score_cache.h"

#include <array>
#include <cstddef>
#include <list>
#include <map>
#include <optional>
#include <vector>

namespace sched {

class ScoreCaches {
 public:
  // All borrowed things outlive the caches. `memory`: the limit in bytes (EngineMemory::shapes).
  ScoreCaches(const Nodes& nodes, const std::vector<Profile>& profiles, const ResourceNames& names,
              WorkloadStatistics& statistics, std::size_t memory);

  // The cache of the shape under the profile of that index, up to date for questions about that
  // scope. The reference is valid until the next call.
  ScoreCache& get(std::size_t profile, const ShapeRef& shape, const Scope& scope = {});
  // The same for questions that leave out the nodes of the ruling (ScoreCache::split_by). If they
  // are left out by counts on them, pods with the same counts share a cache of their own.
  ScoreCache& get(std::size_t profile, const ShapeRef& shape, const Scope& scope,
                  const Ruling& ruling);

  // How all nodes refuse the shape, if what is stored says so; nullopt: one may take it.
  // O(nodes that changed since).
  [[nodiscard]] std::optional<RefusedBy> known_refusal(std::size_t profile, const ShapeRef& shape);

  // As Finder::searched().
  [[nodiscard]] std::uint64_t searched() const { return searched_; }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  // How many shapes without a cache are known to be refused everywhere.
  [[nodiscard]] std::size_t refused() const { return refused_.size(); }
  // Bytes, approximately: what is compared with the limit.
  [[nodiscard]] std::size_t memory() const { return memory_ + refused_.memory(); }

  // What is counted for a shape besides the arrays of its cache: a part that is equal for all (the
  // prepared filters and scores, the kinds of verdicts, the containers), and the shape itself with
  // the copies that filters and scores have of its parts. tests/hostile/cache_cost_test.cc compares
  // it with what the allocator gave out.
  static constexpr std::size_t kMemoryOfShape = 4 * 1024;
  static constexpr std::size_t kCopies = 3;
  [[nodiscard]] static std::size_t memory_of(const ShapeRef& shape) {
    return kMemoryOfShape + kCopies * shape.memory();
  }

 private:
  // The counts by which nodes are left out; null: fewer than kMostCounts.
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
    std::uint64_t version = 0;  // of the statistics that it was prepared with
    std::size_t memory = 0;     // as counted in memory_
  };
  Entry& entry(std::size_t profile, const ShapeRef& shape, const Counts& counts = {});
  [[nodiscard]] bool is_stale(const Entry& entry);
  [[nodiscard]] bool renew(Entry& entry);
  void drop(std::list<Entry>::iterator entry);
  // Drops the least recently used cache.
  void make_room();
  void account(Entry& entry);

  const Nodes& nodes_;
  const std::vector<Profile>& profiles_;
  const ResourceNames& names_;
  WorkloadStatistics& statistics_;
  std::vector<bool> reads_statistics_;  // by profile
  std::size_t memory_limit_;
  std::size_t memory_ = 0;
  std::uint64_t searched_ = 0;
  RuledOutNodes::Places ruled_out_;
  std::list<Entry> entries_;  // the most recently used first
  std::map<Key, std::list<Entry>::iterator> by_key_;
  RefusedShapes refused_;  // none has an entry in entries_ without counts
};

}  // namespace sched
