// The runs as CSV, as data for other charts and for other programs.
#pragma once

#include "bench/replay/result.h"

#include <iosfwd>
#include <vector>

namespace bench::replay {

// steps.csv, how each run went. One line per step of each run: trace, policy, seed, x, arrivals,
// shares in percent. A header line has the names of the columns.
void write_steps_csv(std::ostream& out, const std::vector<Result>& results);

// quotas.csv, the use of every line of every GPU quota over each run. A line each: trace, policy,
// seed, x (hours since the start, or pods that came), quota, gpu_type; then GPUs: guaranteed, used,
// borrowed, lent, pending.
void write_quotas_csv(std::ostream& out, const std::vector<Result>& results);

}  // namespace bench::replay
