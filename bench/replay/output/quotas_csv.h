// quotas.csv: the use of every line of every GPU quota over each run, for other programs.
#pragma once

#include "bench/replay/result.h"

#include <iosfwd>
#include <vector>

namespace bench::replay {

// A line each: trace, policy, seed, x (hours since the start, or pods that came), quota, gpu_type;
// then GPUs: guaranteed, used, borrowed, lent, pending.
void write_quotas_csv(std::ostream& out, const std::vector<Result>& results);

}  // namespace bench::replay
