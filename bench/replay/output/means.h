// The runs of a replay, grouped by trace and policy: means and spreads over the seeds.
#pragma once

#include "bench/replay/result.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bench::replay {

struct MeanAndSpread {
  double mean = 0;
  double deviation = 0;  // population standard deviation, as in the published figures
};

// One policy on one trace.
struct PolicyMeans {
  std::string trace;
  std::string policy;
  std::string tie_break;
  std::string arrival;
  bool over_time = false;
  std::size_t runs = 0;
  std::map<std::string, MeanAndSpread> figures;  // those that every run has
  // The published unallocated % for this policy on this trace, at the same arrival.
  std::optional<MeanAndSpread> published;
  std::size_t decisions = 0;  // of all runs
  double seconds = 0;         // of all runs
};

// In the order in which trace and policy first appear.
[[nodiscard]] std::vector<PolicyMeans> means_over_seeds(const std::vector<Result>& results);

}  // namespace bench::replay
