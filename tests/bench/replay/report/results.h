// Results as a replay would give them, without a replay.
#pragma once

#include "bench/replay/result.h"
#include "bench/replay/trace/trace.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace bench::replay {

// `nodes` nodes with 8 GPUs each, of two models by turns.
[[nodiscard]] Trace made_trace(const std::string& name, std::size_t nodes);

// An inflated workload under a policy that leaves `unallocated` % of the GPUs free, with all parts
// of a result filled in.
[[nodiscard]] Result filled_result(const Trace& trace, const std::string& policy,
                                   std::uint64_t seed, double unallocated);

// A stream over `hours` in which pods wait.
[[nodiscard]] Result result_over_time(const Trace& trace, const std::string& policy,
                                      std::uint64_t seed, double hours, double allocated);

}  // namespace bench::replay
