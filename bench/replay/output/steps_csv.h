// steps.csv: how each run went, step by step, as data for other charts.
#pragma once

#include "bench/replay/result.h"

#include <iosfwd>
#include <vector>

namespace bench::replay {

// One line per step of each run: trace, policy, seed, x, arrivals, shares in percent. A header line
// has the names of the columns.
void write_steps_csv(std::ostream& out, const std::vector<Result>& results);

}  // namespace bench::replay
