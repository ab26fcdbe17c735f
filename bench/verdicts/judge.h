// The engine's answer to a case.
//
// The profile is `kube-parity`: kube-scheduler's own filters and rules across nodes, those of them
// that are built here, and nothing of ours, so that every difference from kube-scheduler's answer
// is a fault of one of them. What a rule holds back since it is not built in full is judged as if
// the rule had nothing against it.
#pragma once

#include "bench/verdicts/case.h"

namespace bench::verdicts {

// Whether the profile can give that verdict, of a node that refuses.
[[nodiscard]] bool is_built(const NodeVerdict& verdict);

// Puts the cluster of the case into a new engine and asks it about the pod.
[[nodiscard]] Answer judge(const Case& question);

}  // namespace bench::verdicts
