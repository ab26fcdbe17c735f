// summary.json: everything a program may want to know of a replay.
#pragma once

#include "bench/replay/output/means.h"
#include "bench/replay/run/result.h"
#include "bench/replay/trace/trace.h"

#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

namespace bench::replay {

struct Summary {
  // What was asked for, as it was understood: {"arrival", "inflate:130"}, …
  const std::vector<std::pair<std::string, std::string>>& options;
  const std::vector<Trace>& traces;
  const std::vector<Result>& results;
  const std::vector<PolicyMeans>& means;
  bool interrupted = false;  // some runs are missing
};

// The same results give the same bytes, but for the lines of "seconds".
void write_summary(std::ostream& out, const Summary& summary);

}  // namespace bench::replay
