// What the engine says of a pod, as JSON for those who asked.
//
//   {"namespace": "ml", "pod": "train-0", "node": "gpu-7", …}        "node" where it is bound
//
// An explanation goes on with "message" (kube-scheduler's sentence; empty where some node fits) and
// "details", with "refusedBy": {"plugin", "reason"} where the pod was refused before any node was
// asked, and with "nodes", by name: [{"node", "code", "plugin", "reasons", "numbers"}], a code as
// Kubernetes names it ("Success", "Unschedulable", "UnschedulableAndUnresolvable"). "nodesLeftOut"
// says how many more there are.
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

// `at_most` of the nodes. What is no UTF-8 in a text is replaced.
[[nodiscard]] std::string to_json(const k8s::Pod& pod, const Explanation& explanation,
                                  std::size_t at_most);
[[nodiscard]] std::string to_json(const k8s::Pod& pod, const std::vector<Candidate>& candidates);

}  // namespace sched::live
