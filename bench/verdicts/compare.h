// Compares two answers to one case: the given one, of kube-scheduler, and the engine's.
#pragma once

#include "bench/verdicts/case.h"

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace bench::verdicts {

// The differences, as text, a line each; empty: they agree. Compared are codes, plugins and reasons
// of all nodes, the message and the scores of those plugins, as far as the given answer has them. A
// refusing verdict without a plugin is a node that was never asked (only its code counts). An
// absent message is not known, unless some node fits: then there must be none.
[[nodiscard]] std::vector<std::string> differences(const Answer& given, const Answer& ours,
                                                   const std::set<std::string>& scoring);

// The plugins of the answer's verdicts that are not `built`, sorted.
[[nodiscard]] std::set<std::string> missing_plugins(
    const Answer& given, const std::function<bool(const NodeVerdict&)>& built);

}  // namespace bench::verdicts
