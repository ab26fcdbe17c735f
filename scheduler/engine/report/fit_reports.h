// The reports on pods that fit nowhere.
//
// The message is made of counts that are kept anyway. Its details cost a look at each node. In a
// full cluster, where pods of the same shapes keep coming and find no room, they would take most of
// the engine's time. So details may use a tenth of a processor. When that is used up, the details
// of the same shape and scope are used again if they are younger than kOldest. The first details of
// a shape and scope are always made: they cost no more than its first answer.
#pragma once

#include "scheduler/base/allowance.h"
#include "scheduler/cluster/nodes.h"
#include "scheduler/cluster/shapes.h"
#include "scheduler/engine/finder/score_cache.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace sched {

struct FitReport {
  std::string message;  // fit_error.h
  std::string details;  // shortage_report.h
  std::vector<std::string> plugins;
};

class FitReports {
 public:
  static constexpr std::chrono::seconds kOldest{60};
  // How many nodes a tenth of a processor looks at.
  static constexpr std::int64_t kNodesPerSecond = 300'000;

  // Both outlive it. `nodes_per_second`: how many nodes details made anew may look at.
  FitReports(const Nodes& nodes, const ResourceNames& names,
             std::int64_t nodes_per_second = kNodesPerSecond)
      : nodes_(nodes), names_(names), allowance_(nodes_per_second) {}

  // Why the shape of that cache, which is up to date, fits on no node of the scope. Valid until the
  // next call. O(reasons), and O(nodes) where details are made.
  const FitReport& of(std::size_t profile, const ScoreCache& cache, const Scope& scope, Time now);

 private:
  // Beyond this all entries are dropped: a shape may have half a MB, by one long affinity.
  static constexpr std::size_t kMostMemory = std::size_t{16} << 20U;

  using Key = std::tuple<std::size_t, ShapeId, quota::ClassSetId>;
  struct Entry {
    ShapeRef shape;  // so that its id stays its own
    FitReport report;
    ChangeLog::Position details_of = 0;  // up to which change of the nodes
    Time details_made{};
    std::size_t memory = 0;  // as counted in memory_
  };
  [[nodiscard]] std::string details(const ScoreCache& cache, const Scope& scope) const;

  const Nodes& nodes_;
  const ResourceNames& names_;
  std::map<Key, Entry> entries_;
  std::size_t memory_ = 0;  // of entries_, approximately
  Allowance allowance_;
};

}  // namespace sched
