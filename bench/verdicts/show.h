// Answers as text for people: the verdict first, then the nodes, then what kube-scheduler answers.
#pragma once

#include "bench/verdicts/compare.h"

#include <cstddef>
#include <optional>
#include <string>

namespace bench::verdicts {

// With more nodes than this, a row stands for all nodes with the same answer; of the nodes that
// fit, the scores of the best are shown.
inline constexpr std::size_t kMostListed = 20;

// One case:
//
//   q: 0 of 2 nodes fit - 0/2 nodes are available: 2 Insufficient cpu.
//     NODE  VERDICT        PLUGIN            REASONS
//     a     Unschedulable  NodeResourcesFit  Insufficient cpu
//     b     Unschedulable  NodeResourcesFit  Insufficient cpu
//     Beside kube-scheduler: 2 agreements, 1 difference
//     WHERE  OURS                                              KUBE-SCHEDULER
//     b      Unschedulable by NodeResourcesFit: Insufficient…  Success
//
// and an empty line. Without `comparison` the case has no answer of kube-scheduler. `quiet`: ""
// unless they differ, and no nodes.
[[nodiscard]] std::string answer_text(const std::string& id, const Answer& ours,
                                      const std::optional<Comparison>& comparison, bool quiet);

// The closing line, about all cases with answers.
[[nodiscard]] std::string tally_text(const Tally& tally);

}  // namespace bench::verdicts
