// The engine's answers about a pod, as JSON.
//
//   {"namespace": "ml", "pod": "train-0", "node": "gpu-7", …}        "node" if it is bound
//
// An explanation continues with "message" (kube-scheduler's sentence; empty if some node fits) and
// "details", with "refusedBy": {"plugin", "reason"} if the pod was refused before any node was
// asked, and with "nodes", by name: [{"node", "code", "plugin", "reasons", "numbers"}], with
// Kubernetes' names of codes ("Success", "Unschedulable", "UnschedulableAndUnresolvable").
// "nodesLeftOut" is how many more there are.
//
// Candidates go on with "candidates", the best first:
// [{"node", "totalScore", "scores": [{"plugin", "score", "weight"}]}].
#pragma once

#include "k8s-client/api/pod.h"
#include "scheduler/engine/engine.h"

#include <cstddef>
#include <string>
#include <vector>

namespace sched::live {

// With at most `at_most` nodes. Bytes that are not UTF-8 are replaced.
[[nodiscard]] std::string to_json(const k8s::Pod& pod, const Explanation& explanation,
                                  std::size_t at_most);
[[nodiscard]] std::string to_json(const k8s::Pod& pod, const std::vector<Candidate>& candidates);

}  // namespace sched::live
