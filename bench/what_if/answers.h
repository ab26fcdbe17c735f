// What the engine answers about pods that are not there.
#pragma once

#include "bench/demo/outcome.h"
#include "k8s-client/api/pod.h"
#include "k8s-client/error.h"
#include "scheduler/engine/engine.h"

#include <set>
#include <string>
#include <vector>

namespace bench {

// Pods are told apart by namespace and name: one that is given twice is an error, and so is nothing
// at all. Each has a uid of its own then.
[[nodiscard]] k8s::Result<void> check_pods(const std::vector<k8s::Pod>& pods);

// Puts the pods into the engine and tells what it decides on each, first those that it decides on,
// in the order of its decisions; then the others, with the reason why it does not. Decisions on
// pods that wait in the cluster itself are left out. Where the pods are of several namespaces they
// are called NAMESPACE/NAME. `served` are the scheduler names of the engine's profiles.
[[nodiscard]] std::vector<Outcome> answers(sched::Engine& engine, const std::vector<k8s::Pod>& pods,
                                           const std::set<std::string>& served, sched::Time now);

}  // namespace bench
