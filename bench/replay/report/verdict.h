// What the report says first: which policy did best, by which figure, and how sure that is.
#pragma once

#include "bench/replay/report/comparison.h"

#include <string>
#include <vector>

namespace bench::replay {

// Plain text, a few sentences; empty if there is no comparison. The figures in it are those of the
// page's tables.
[[nodiscard]] std::string verdict(const std::vector<Comparison>& comparisons);

}  // namespace bench::replay
