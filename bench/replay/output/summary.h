// summary.json: the results of a replay for programs.
#pragma once

#include "bench/replay/output/means.h"
#include "bench/replay/result.h"
#include "bench/replay/trace/trace.h"

#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

namespace bench::replay {

struct Summary {
  // The arguments as they were read: {"arrival", "inflate:130"}, …
  const std::vector<std::pair<std::string, std::string>>& options;
  const std::vector<Trace>& traces;
  const std::vector<Result>& results;
  const std::vector<PolicyMeans>& means;
  bool interrupted = false;  // some runs are missing
};

// The same results give the same bytes, except for the lines of "seconds".
void write_summary(std::ostream& out, const Summary& summary);

}  // namespace bench::replay
