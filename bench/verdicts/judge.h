// The engine's answer to a case.
//
// The profile is `kube-parity`: kube-scheduler's own filters, rules across nodes and scores with
// its weights, those of them that are built here, and nothing of ours, so that every difference
// from kube-scheduler's answer is a fault of one of them. What a rule holds back since it is not
// built in full is judged as if the rule had nothing against it.
#pragma once

#include "bench/verdicts/case.h"

#include <set>
#include <string>

namespace bench::verdicts {

// Whether the profile can give that verdict, of a node that refuses.
[[nodiscard]] bool is_built(const NodeVerdict& verdict);

// The plugins of the profile whose scores are those of kube-scheduler. NodeResourcesFit is none
//   * of a pod that asks for resources as a whole: kube-scheduler 1.36 does not tell its scorer of
//     these (noderesources/fit.go makes it without enablePodLevelResources), so that it goes by the
//     defaults of the containers, and a pod of 8 GiB scores as one of 200 MiB;
//   * where a hundred times what a node has is beyond 64 bits, as of a thousand million million
//     CPUs: kube-scheduler's product wraps around.
[[nodiscard]] std::set<std::string> scoring_plugins(const Case& question);

// Puts the cluster of the case into a new engine and asks it about the pod.
[[nodiscard]] Answer judge(const Case& question, bool with_scores);

}  // namespace bench::verdicts
