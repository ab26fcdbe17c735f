// The table at the end of a replay: for each trace and policy the mean ± spread of the main
// figures, beside published ones if there are any.
#pragma once

#include "bench/replay/output/means.h"
#include "bench/replay/trace/trace.h"

#include <cstdint>
#include <iosfwd>
#include <vector>

namespace bench::replay {

enum class TableFormat : std::uint8_t { kText, kMarkdown };

// One table per trace.
void write_table(std::ostream& out, const std::vector<PolicyMeans>& means, TableFormat format);

// What was read, in one line per trace.
void write_counts(std::ostream& out, const std::vector<Trace>& traces);

}  // namespace bench::replay
