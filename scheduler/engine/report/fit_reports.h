// The reports on pods that fit nowhere.
//
// Many pods of one shape may wait: the text for a shape and scope is made once per change of the
// nodes. Its details are made with it, although they take a look at each node: they are in the
// pod's condition, where people read why it waits.
#pragma once

#include "scheduler/cluster/nodes.h"
#include "scheduler/cluster/shapes.h"
#include "scheduler/engine/finder/score_cache.h"

#include <cstddef>
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
  // Both outlive it.
  FitReports(const Nodes& nodes, const ResourceNames& names) : nodes_(nodes), names_(names) {}

  // Why the shape of that cache, which is up to date, fits on no node of the scope. Valid until the
  // next call. O(nodes) for the first such question since the last change.
  const FitReport& of(std::size_t profile, const ScoreCache& cache, const Scope& scope = {});

 private:
  // Beyond this all entries are dropped: a shape may have half a MB, by one long affinity.
  static constexpr std::size_t kMostMemory = std::size_t{16} << 20U;

  using Key = std::tuple<std::size_t, ShapeId, quota::ClassSetId>;
  struct Entry {
    ShapeRef shape;  // so that its id stays its own
    FitReport report;
  };
  [[nodiscard]] FitReport made(const ScoreCache& cache, const Scope& scope) const;

  const Nodes& nodes_;
  const ResourceNames& names_;
  std::map<Key, Entry> entries_;
  std::size_t memory_ = 0;           // of entries_, approximately
  ChangeLog::Position made_at_ = 0;  // of the nodes
};

}  // namespace sched
