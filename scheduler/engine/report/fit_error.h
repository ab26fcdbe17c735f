// Why a pod fits nowhere, in exactly kube-scheduler's words.
//
// Source: kube-scheduler framework/types.go, FitError.Error.
#pragma once

#include "scheduler/engine/finder/verdict_counts.h"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sched {

// "0/5 nodes are available: 2 Insufficient cpu, 3 node(s) were unschedulable." The counted reasons
// are sorted as text; one node may give several. O(different verdicts). `further`: nodes that all
// filters pass, by the reason that keeps the pod off them.
using ReasonCounts = std::map<std::string, std::size_t>;
[[nodiscard]] std::string fit_error(std::size_t all_nodes, const PreparedShape& shape,
                                    const VerdictCounts& verdicts, ReasonCounts further = {});

// "0/5 nodes are available: pod affinity terms conflict." for a pod refused as a whole.
[[nodiscard]] std::string fit_error(std::size_t all_nodes, std::string_view rejection);

// The same of counted reasons alone.
[[nodiscard]] std::string fit_error(std::size_t all_nodes, const ReasonCounts& reasons);

// The plugins with answers that made the pod unschedulable, sorted.
[[nodiscard]] std::vector<std::string> refusing_plugins(const PreparedShape& shape,
                                                        const VerdictCounts& verdicts);

}  // namespace sched
