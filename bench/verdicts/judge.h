// The engine's answer to a case.
//
// The profile is `kube-parity`: those of kube-scheduler's own filters, rules across nodes and
// scores that are built here, with its weights, and nothing else. So every difference from
// kube-scheduler's answer is a fault of one of them. If a rule refuses a pod because the rule is
// not built completely, the pod is judged as if the rule had not refused it.
#pragma once

#include "bench/verdicts/case.h"

#include <set>
#include <string>

namespace bench::verdicts {

// Whether the profile can give that verdict of a refusing node.
[[nodiscard]] bool is_built(const NodeVerdict& verdict);

// The plugins of the profile with the same scores as in kube-scheduler. NodeResourcesFit is not
// among them
//   * for a pod with pod-level resources: kube-scheduler 1.36 does not pass these to its scorer
//     (noderesources/fit.go makes it without enablePodLevelResources), so it uses the defaults of
//     the containers, and a pod of 8 GiB scores as one of 200 MiB;
//   * if a hundred times a node's capacity is beyond 64 bits, as with a thousand million million
//     CPUs: kube-scheduler's product overflows.
[[nodiscard]] std::set<std::string> scoring_plugins(const Case& question);

// Puts the cluster of the case into a new engine and judges the pod with it.
[[nodiscard]] Answer judge(const Case& question, bool with_scores);

}  // namespace bench::verdicts
