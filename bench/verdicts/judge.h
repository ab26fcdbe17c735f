// The engine's answer to a case.
//
// The profile is `kube-parity`: kube-scheduler's own filters, those of them that are built here,
// and nothing of ours, so that every difference from kube-scheduler's answer is a fault of one of
// them.
#pragma once

#include "bench/verdicts/case.h"

#include <set>
#include <string>

namespace bench::verdicts {

// kube-scheduler's filters of 1.36 that are built here, by name.
[[nodiscard]] const std::set<std::string>& built_filters();

// Puts the cluster of the case into a new engine and asks it about the pod.
[[nodiscard]] Answer judge(const Case& question);

}  // namespace bench::verdicts
